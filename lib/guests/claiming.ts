import { identifyAs } from '../accounts/host-identity/service.ts'
import { findIdentity, hostKey } from '../accounts/identities/store.ts'
import { mayCall } from '../accounts/sessions/remembered.ts'
import { GUEST_PREFIX } from '../accounts/sessions/rules.ts'
import { TOKEN_PREFIX } from '../accounts/tokens/rules.ts'
import { recogniseToken } from '../accounts/tokens/service.ts'
import { findUser } from '../accounts/users/store.ts'
import { findMergedSubject, findMergedToken, type MergedUser } from '../accounts/users/store-merged.ts'
import type { ClaimedGuest, Context, GuestsOfSignIns } from '../context.ts'
import { type Actor, hasScope } from '../core/actor.ts'
import { ChatError, causeText } from '../core/errors.ts'
import { digest } from '../core/ids.ts'
import { DAY } from '../core/units.ts'
import type { Merged } from '../merging/schema.ts'
import { mergeUsers, repeated } from '../merging/service.ts'

/** How long a claim can be made again, with the same answer. */
const REPEATABLE = DAY

/**
 * Merges the guest of a token into a user.
 *
 * @throws ChatError `not_found` for a token of no guest, an expired one, and one of a guest who was merged into another user;
 *   `conflict` for the token of a person, and as `mergeUsers`
 */
export async function claimByToken(ctx: Context, actor: Actor, token: string): Promise<Merged> {
  const guest = await findHolder(ctx, token)
  if ('into_id' in guest) {
    if (ctx.now() - guest.merged_at > REPEATABLE) throw new ChatError('not_found')
    return repeated(ctx, guest, actor.user_id)
  }
  if (guest.kind !== 'guest') throw new ChatError('conflict', { message: 'This is the token of a person.' })
  return mergeUsers(ctx, actor, { from_id: guest.id, into_id: actor.user_id, token_hash: digest(token) })
}

/** The user of a token, or the merge by which its guest was claimed. */
type Found = { id: string; kind: string } | MergedUser

/** By a token of a guest, a signed token of the service, the session of a person, or what the host knows callers by. */
async function findHolder(ctx: Context, token: string): Promise<Found> {
  const session = await ctx.accounts.findSession(digest(token))
  if (session && mayCall(session, ctx.sessionNow())) return { id: session.user_id, kind: session.kind }
  const signed = token.startsWith(TOKEN_PREFIX)
  const holder = signed ? await findBySigned(ctx, token) : undefined
  if (holder) return holder
  const merged = session ? undefined : await findMergedToken(ctx.db, digest(token))
  if (merged) return merged
  if (signed || token.startsWith(GUEST_PREFIX)) throw new ChatError('not_found')
  return findByHost(ctx, token)
}

/** The user of a signed token that may change something: what may only be read or followed is not given away. */
async function findBySigned(ctx: Context, token: string): Promise<Found | undefined> {
  const actor = await recogniseToken(ctx, token).catch(unlessRefused)
  return actor && hasScope(actor, 'write') ? findUser(ctx.db, actor.user_id) : undefined
}

async function findByHost(ctx: Context, token: string): Promise<Found> {
  const identity = await identifyAs(ctx, token).catch(unlessRefused)
  const user = identity && (await findIdentity(ctx.db, hostKey(identity.subject)))
  if (user && identity && !identity.isRefused(user)) return user
  const merged = identity && !user ? await findMergedSubject(ctx.db, identity.subject) : undefined
  if (!merged) throw new ChatError('not_found')
  return merged
}

/** A token that is refused is the token of no guest. */
function unlessRefused(error: unknown): undefined {
  if (error instanceof ChatError && error.status === 401) return undefined
  throw error
}

/** What sign-ins make of the guest whose session the browser has in a cookie. */
export const guestsOfSignIns: GuestsOfSignIns = {
  async find({ accounts, sessionNow }, { token }) {
    if (token === undefined) return undefined
    const session = await accounts.findSession(digest(token))
    if (session?.kind !== 'guest' || !mayCall(session, sessionNow())) return undefined
    return { user_id: session.user_id, token_hash: session.token_hash }
  },
  claim: mergeGuest,
  async claimAfter(ctx, userId, guest) {
    if (!guest) return
    await mergeGuest(ctx, userId, guest).catch((error) =>
      ctx.log.warn('A guest could not be merged into the user who has signed in', {
        user_id: guest.user_id,
        cause: causeText(error),
      }),
    )
  },
}

async function mergeGuest(ctx: Context, userId: string, { user_id: from_id, ...token }: ClaimedGuest): Promise<void> {
  await mergeUsers(ctx, { user_id: userId, roles: [] }, { from_id, into_id: userId, ...token })
}
