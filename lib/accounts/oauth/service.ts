import type { Context } from '../../context.ts'
import { type Actor, refuseGuests, refuseKeys } from '../../core/actor.ts'
import { ChatError, turnedOff } from '../../core/errors.ts'
import { digest, newToken } from '../../core/ids.ts'
import { SECOND } from '../../core/units.ts'
import { useCase } from '../../core/use-case.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import { notify } from '../mails/notices.ts'
import { type Client, openSession, type SignedIn } from '../sessions/service.ts'
import { requireConfirmation } from '../sessions/service-confirmation.ts'
import { findSession } from '../sessions/store.ts'
import { findUser, hasUsers, lockUser } from '../users/store.ts'
import { assignRoles } from './assign-roles.ts'
import { findOrCreateAccount } from './find-account.ts'
import type { Provider, Returned } from './provider.ts'
import { readBinding } from './rules.ts'
import { ManualCode, OauthBegin, type OauthBegun, OauthReturn } from './schema.ts'
import { insertState, type StateRow, takeState } from './store.ts'

/** How long a user may take to sign in at the provider. */
export const STATE_SECONDS = 600

/** The caller of a callback, and its purpose. */
interface Return {
  actor: Actor | undefined
  client: Client
  provider: string
  attempt: StoredAttempt | undefined
}

type StoredAttempt = Omit<StateRow, 'state_hash' | 'provider' | 'binding_hash'>

/** Why a user that the provider knows is not signed in. */
const ADMISSION_ERRORS = [
  'forbidden',
  'account_disabled',
  'signup_disabled',
  'email_taken',
  'username_taken',
  'conflict',
] as const

/**
 * Starts a sign-in through a provider.
 *
 * @returns the URL to redirect the browser to, and the value of its cookie: `client.binding` of the callback
 * @throws ChatError `not_found` for a provider without credentials; `setup_required`; `unauthenticated` to link without
 *   a session, `forbidden` with an API key, `confirmation_required`; `oauth_provider_error`
 */
export const begin = useCase({
  takes: ['actor?', 'client', 'provider'],
  input: OauthBegin,
  errors: [
    'not_found',
    'unauthenticated',
    'forbidden',
    'confirmation_required',
    'setup_required',
    'oauth_provider_error',
  ],
  run: async (ctx, actor, client, provider, input): Promise<OauthBegun & { binding: string }> => {
    const signInProvider = getProvider(ctx, provider)
    if (!(await hasUsers(ctx.db))) throw new ChatError('setup_required')
    if (input.link) {
      if (actor) refuseKeys(actor)
      if (actor) refuseGuests(actor)
      if (!actor?.session_id) throw new ChatError('unauthenticated')
      await requireConfirmation(ctx, ctx.db, actor)
    }
    const guest = input.claim ? await ctx.accounts.guests.find(ctx, client) : undefined
    // Attempts in several tabs of a browser share a cookie and are independent.
    const secret = readBinding(client.binding)?.secret ?? newToken()
    const attempt = { state: newToken(), verifier: newToken(), nonce: newToken() }
    const auth_url = await signInProvider.authorizationUrl(attempt)
    await ctx.write((tx) =>
      insertState(tx, {
        state_hash: digest(attempt.state),
        provider,
        binding_hash: digest(secret),
        verifier: attempt.verifier,
        nonce: attempt.nonce,
        redirect_to: input.redirect_to,
        // A guest has nothing to link: the attempt of one claims it.
        link_user_id: input.link ? actor!.user_id : (guest?.user_id ?? null),
        expires_at: ctx.now() + STATE_SECONDS * SECOND,
      }),
    )
    return { auth_url, binding: `${secret}.${attempt.state}` }
  },
})

/**
 * Completes a sign-in through a provider: the user gets a session, or the identity is linked to the account the user is
 * signed in to.
 *
 * @throws ChatError `not_found`; `oauth_state_invalid` unless this browser started it here, less than ten minutes ago,
 *   and has not completed it; `oauth_denied`; `oauth_provider_error`
 */
export const finish = useCase({
  takes: ['actor?', 'client', 'provider'],
  input: OauthReturn,
  errors: [
    'not_found',
    'oauth_state_invalid',
    'oauth_denied',
    'oauth_provider_error',
    ...ADMISSION_ERRORS,
    'storage_full',
  ],
  run: async (ctx, actor, client, provider, input): Promise<{ signed_in: SignedIn; redirect_to: string }> => {
    const signInProvider = getProvider(ctx, provider)
    const { code, state, iss, error } = input
    if (state !== undefined && code === undefined && error === undefined)
      throw new ChatError('validation_failed', { errors: [{ path: 'code', message: 'must be there' }] })
    const attempt = await take(ctx, client, provider, state)
    if (!attempt) throw new ChatError('oauth_state_invalid')
    const signed_in = await recorded(ctx, { actor, client, provider, attempt }, (admitted) => {
      if (error !== undefined || code === undefined)
        throw new ChatError(error === 'access_denied' ? 'oauth_denied' : 'oauth_provider_error')
      return signIn(ctx, admitted, signInProvider, { code, iss })
    })
    return { signed_in, redirect_to: attempt.redirect_to ?? '/' }
  },
})

/**
 * Completes a sign-in with a code that was copied by hand. Without a state, the attempt is this browser's last one, or
 * none: then nothing proves that this browser requested the code.
 *
 * @throws ChatError as {@link finish}; `not_found` too where `oauth.manual_enabled` is off; `setup_required`
 */
export const exchangeCode = useCase({
  takes: ['actor?', 'client', 'provider'],
  input: ManualCode,
  errors: ['not_found', 'setup_required', 'oauth_state_invalid', 'oauth_provider_error', ...ADMISSION_ERRORS],
  run: async (ctx, actor, client, provider, { auth_code, state }): Promise<SignedIn> => {
    if (!ctx.config.oauth.manual_enabled) throw turnedOff('oauth.manual_enabled')
    const signInProvider = getProvider(ctx, provider)
    if (!(await hasUsers(ctx.db))) throw new ChatError('setup_required')
    const attempt = await take(ctx, client, provider, state ?? readBinding(client.binding)?.state)
    if (state !== undefined && !attempt) throw new ChatError('oauth_state_invalid')
    return recorded(ctx, { actor, client, provider, attempt }, (admitted) =>
      signIn(ctx, admitted, signInProvider, { code: auth_code, by_hand: true }),
    )
  },
})

function getProvider(ctx: Context, name: string): Provider {
  const provider = ctx.accounts.providers.get(name)
  if (!provider) throw new ChatError('not_found')
  return provider
}

/**
 * Takes the attempt of a state, if this browser started it and it has not expired. Of several calls exactly one gets
 * it.
 */
async function take(
  ctx: Context,
  client: Client,
  provider: string,
  state: string | undefined,
): Promise<StoredAttempt | undefined> {
  const binding = readBinding(client.binding)
  if (!binding || state === undefined) return undefined
  const key = { state_hash: digest(state), provider, binding_hash: digest(binding.secret) }
  const attempt = await ctx.write((tx) => takeState(tx, key))
  return attempt && attempt.expires_at >= ctx.now() ? attempt : undefined
}

async function signIn(ctx: Context, from: Return, provider: Provider, returned: Returned): Promise<SignedIn> {
  const { actor, client, attempt } = from
  const named = attempt?.link_user_id ? await findUser(ctx.db, attempt.link_user_id) : undefined
  const guest = named?.kind === 'guest' ? { user_id: named.id } : undefined
  const linkTo = guest ? undefined : attempt?.link_user_id
  // A user who was signed out in the meantime must not get another means of sign-in.
  if (linkTo && (!actor?.session_id || actor.user_id !== linkTo)) throw new ChatError('oauth_state_invalid')
  const person = await provider.identify(returned, attempt)
  const { refusal, roles } = person.admission
  if (refusal !== undefined) {
    ctx.log.warn('A sign-in was refused', { provider: from.provider, reason: refusal })
    throw new ChatError('forbidden', { message: 'This account of the provider may not sign in here.' })
  }
  const signedIn = await ctx.write(async (tx) => {
    if (linkTo) await assertSessionLives(tx, linkTo, actor!.session_id!)
    const account = await findOrCreateAccount(ctx, tx, person, linkTo)
    const { act } = account
    const user = roles ? await assignRoles(ctx, tx, account.user, { provider: from.provider, roles }) : account.user
    tx.audit({ act, actor_id: user.id, subject_id: user.id, ip: client.ip, detail: { provider: from.provider } })
    if (act === 'oauth.linked') await notify(ctx, tx, user.id, 'identity_linked')
    return openSession(ctx, tx, user, client)
  })
  await ctx.accounts.guests.claimAfter(ctx, signedIn.user.id, guest)
  return signedIn
}

/**
 * The provider's response may be slow: the session may have ended since. @throws ChatError `oauth_state_invalid`
 */
async function assertSessionLives(tx: Tx, userId: string, sessionId: string): Promise<void> {
  await lockUser(tx, userId)
  if (!(await findSession(tx, sessionId))) throw new ChatError('oauth_state_invalid')
}

/** Audits failed callbacks, too, except those with an unknown state. */
async function recorded(ctx: Context, from: Return, work: (from: Return) => Promise<SignedIn>): Promise<SignedIn> {
  try {
    return await work(from)
  } catch (error) {
    if (error instanceof ChatError && (error.status < 500 || error.code === 'oauth_provider_error')) {
      const { actor, client, provider } = from
      const detail = { provider, code: error.code }
      await ctx.write(async (tx) => tx.audit({ act: 'oauth.failed', actor_id: actor?.user_id, ip: client.ip, detail }))
    }
    throw error
  }
}
