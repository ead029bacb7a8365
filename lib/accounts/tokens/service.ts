import type { Context } from '../../context.ts'
import { type Actor, assertPerson, isOperator, refuseKeys } from '../../core/actor.ts'
import { ChatError, invalid } from '../../core/errors.ts'
import { toInstant } from '../../core/time.ts'
import { SECOND } from '../../core/units.ts'
import { useCase } from '../../core/use-case.ts'
import { findPerson } from '../identities/host-person.ts'
import { noteGuestUse } from '../users/guest-use.ts'
import { toActor } from '../users/rules.ts'
import { findUser } from '../users/store.ts'
import { isSystemUser } from '../users/store-system.ts'
import { isTicket, lifeOf, readToken, signToken, type TokenClaims } from './rules.ts'
import { type IssuedToken, TokenInput, TokenOfUser } from './schema.ts'
import { findHolder } from './store.ts'

/**
 * Issues a signed token that acts as the actor, or from the operator as a user. It is stored nowhere, and ends with the session,
 * the key or the login that it was made with, and with what ends all sessions of the user.
 *
 * @throws ChatError `forbidden` for a system actor, for an actor who names a user, and with an API key or a token for anything but
 *   a ticket; `not_found` and `account_disabled` for a user that the operator names; `validation_failed`
 */
export const issue = useCase({
  takes: ['actor'],
  input: TokenOfUser,
  errors: ['not_found', 'account_disabled', 'validation_failed'],
  run: async (ctx, actor, input): Promise<IssuedToken> => {
    const scopes = [...new Set(input.scopes ?? (['read', 'write'] as const))]
    const seconds = lifeOf(input)
    if (seconds === undefined) throw invalid('ttl_seconds', 'must be at most 300 for a token with stream alone')
    // A server key acts for any user anyway: what it makes ends with it.
    if (!isTicket(scopes) && actor.server_key === undefined) refuseKeys(actor)
    const holder = isOperator(actor) ? await holderFor(ctx, input) : ownHolder(ctx, actor, input)
    const expires_at = Math.min(ctx.now() + seconds * SECOND, holder.until ?? Number.POSITIVE_INFINITY)
    const token = signToken(await ctx.accounts.tokenKeys(), { ...holder, scopes, expires_at })
    return { token, expires_at: toInstant(expires_at) }
  },
})

/** {@link issue} for a client of the service, which names no user. */
export const issueOwn = useCase({ ...issue, input: TokenInput, errors: [] })

/** The user of a token, and what ends it. */
type Holder = Omit<TokenClaims, 'scopes' | 'expires_at'>

async function holderFor(ctx: Context, { user_id, subject }: TokenOfUser): Promise<Holder> {
  if ((user_id === undefined) === (subject === undefined)) throw invalid('user_id', 'give either user_id or subject')
  // Before the look-up, so that what ends the user's logins meanwhile ends the token.
  const issued_at = ctx.now()
  const user = subject === undefined ? await findUser(ctx.db, user_id!) : await findPerson(ctx.db, subject)
  if (!user || (await isSystemUser(ctx.db, user.id))) throw new ChatError('not_found')
  if (user.disabled_at) throw new ChatError('account_disabled')
  return { user_id: user.id, issued_at }
}

function ownHolder(ctx: Context, actor: Actor, { user_id, subject }: TokenOfUser): Holder {
  assertPerson(actor)
  if (user_id !== undefined || subject !== undefined) throw new ChatError('forbidden', { reason: 'role' })
  const login = ctx.streams.logins.get(actor)
  const { session_id, key_id } = login?.maker ?? actor
  return {
    user_id: actor.user_id,
    // The proof of a login may have been refused meanwhile: then so is what was made with it.
    issued_at: login ? (login.issued_at ?? login.at) : ctx.now(),
    ...(login?.expires_at !== undefined && { until: login.expires_at }),
    ...(session_id && { session_id }),
    ...(key_id && { key_id }),
  }
}

/**
 * The actor of a token that the service has issued.
 *
 * @param options.ticket whether it is in a URL: there only a ticket is taken
 * @throws ChatError `session_expired`; `unauthenticated`
 */
export async function recogniseToken(ctx: Context, token: string, options: { ticket?: boolean } = {}): Promise<Actor> {
  const claims = readToken(await ctx.accounts.tokenKeys(), token)
  if (!claims || (options.ticket && !isTicket(claims.scopes))) throw new ChatError('unauthenticated')
  const { user_id, scopes, issued_at, expires_at, until, ...maker } = claims
  const now = ctx.now()
  if (expires_at <= now) throw new ChatError('session_expired')
  const holder = await findHolder(ctx.db, user_id, maker, { now, sessionNow: ctx.sessionNow() })
  if (!holder || holder.disabled_at !== null || issued_at <= holder.tokens_after || !holder.is_maker_live)
    throw new ChatError('unauthenticated')
  if (holder.kind === 'bot' && (holder.is_abandoned || !ctx.config.bots.enabled)) throw new ChatError('unauthenticated')
  await noteGuestUse(ctx, { id: user_id, kind: holder.kind })
  const actor: Actor = { ...toActor({ ...holder, id: user_id }), scopes }
  // What a ticket opens goes on after it.
  ctx.streams.logins.set(actor, { at: now, issued_at, expires_at: isTicket(scopes) ? until : expires_at, maker })
  return actor
}
