import type { Context } from '../../context.ts'
import type { Role } from '../../core/actor.ts'
import { uniqueKey } from '../../core/characters.ts'
import { ChatError, type ErrorCode } from '../../core/errors.ts'
import { fingerprint } from '../../core/ids.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { AuditAct } from '../audit/schema.ts'
import { findIdentity, insertIdentity, listIdentities } from '../identities/store.ts'
import { addUser } from '../users/service.ts'
import { findUser, findUserByEmail, lockUser, type UserRow } from '../users/store.ts'
import { markEmailVerified } from '../users/store-changes.ts'
import type { ProviderUser } from './person.ts'
import { numberedUsername, usernameFrom } from './rules.ts'
import { takeOver } from './takeover.ts'

/** The account of a person, and how it was found. */
export interface FoundAccount {
  user: UserRow
  act: Extract<AuditAct, 'oauth.signed_in' | 'oauth.signed_up' | 'oauth.linked'>
}

/** The maximum number of identities per user: enough for every provider. */
const MAX_IDENTITIES_PER_USER = 50

/** How many numbers are tried after a name before it gets a random suffix. */
const NUMBERED_NAMES = 9

/**
 * Finds or creates the account of a person inside a transaction.
 *
 * @param linkTo the user who wants to link the identity
 * @throws ChatError `account_disabled`; `conflict` when the identity is another user's; `email_taken`; `signup_disabled`;
 *   `oauth_provider_error` for a new person without an address
 */
export async function findOrCreateAccount(
  ctx: Context,
  tx: Tx,
  person: ProviderUser,
  linkTo?: string | null,
): Promise<FoundAccount> {
  const userId = (await findIdentity(tx, person))?.id
  if (linkTo) {
    if (userId && userId !== linkTo) throw new ChatError('conflict', { message: 'Another account has this identity.' })
    if (!userId) return link(ctx, tx, person, await getEnabledUser(tx, linkTo))
  }
  if (userId) {
    const user = await getEnabledUser(tx, userId)
    // Removed since, by its owner or by a lockdown: it can no longer sign in.
    if ((await findIdentity(tx, person))?.id !== userId) throw new ChatError('oauth_state_invalid')
    return { user: await withProof(ctx, tx, person, user), act: 'oauth.signed_in' }
  }
  try {
    return await linkOrSignUp(ctx, tx, person)
  } catch (error) {
    // If a new person returns twice at once, the slower call finds the address taken by the same person.
    const faster = isCode(error, 'email_taken') && (await findIdentity(tx, person))?.id
    if (!faster) throw error
    return { user: await getEnabledUser(tx, faster), act: 'oauth.signed_in' }
  }
}

async function linkOrSignUp(ctx: Context, tx: Tx, person: ProviderUser): Promise<FoundAccount> {
  const { allow_signup, link_verified_email } = ctx.config.oauth
  const { email, email_verified } = person
  const owner = email === undefined ? undefined : await findUserByEmail(tx, email)
  if (owner) {
    if (!link_verified_email || !email_verified) throw new ChatError('email_taken')
    const user = await getEnabledUser(tx, owner.id)
    // The address of the account has changed since.
    if (!isAddressOf(user, person)) throw new ChatError('email_taken')
    return link(ctx, tx, person, user.email_verified_at === null ? await takeOver(ctx, tx, user) : user)
  }
  if (!allow_signup) throw new ChatError('signup_disabled')
  if (email === undefined)
    throw new ChatError('oauth_provider_error', { message: 'The sign-in provider tells no e-mail address.' })
  const user = await signUp(ctx, tx, person, email)
  await claim(ctx, tx, person, user.id)
  await ctx.accounts.joinRooms(tx, user)
  return { user, act: 'oauth.signed_up' }
}

async function link(ctx: Context, tx: Tx, person: ProviderUser, user: UserRow): Promise<FoundAccount> {
  await claim(ctx, tx, person, user.id)
  return { user: await withProof(ctx, tx, person, user), act: 'oauth.linked' }
}

/** The account; its address becomes verified if the provider reports it as verified. */
async function withProof(ctx: Context, tx: Tx, person: ProviderUser, user: UserRow): Promise<UserRow> {
  if (user.email_verified_at !== null || !person.email_verified || !isAddressOf(user, person)) return user
  const email_verified_at = ctx.now()
  await markEmailVerified(tx, user.id, email_verified_at)
  tx.audit({ act: 'email.verified', actor_id: user.id, subject_id: user.id, detail: { by: person.provider } })
  return { ...user, email_verified_at }
}

function isAddressOf(user: UserRow, { email }: ProviderUser): boolean {
  return email !== undefined && uniqueKey(email) === uniqueKey(user.email)
}

async function claim(ctx: Context, tx: Tx, person: ProviderUser, userId: string): Promise<void> {
  if ((await listIdentities(tx, userId)).length >= MAX_IDENTITIES_PER_USER)
    throw new ChatError('conflict', {
      message: `A user has at most ${MAX_IDENTITIES_PER_USER} identities: remove one first.`,
    })
  const { provider, issuer, subject } = person
  const row = { id: ctx.id(), provider, issuer, subject, user_id: userId, created_at: ctx.now() }
  if (!(await insertIdentity(tx, row))) throw new ChatError('conflict')
}

/** Creates a user with an unused username similar to the person's name. @throws ChatError `email_taken` */
async function signUp(ctx: Context, tx: Tx, person: ProviderUser, email: string): Promise<UserRow> {
  const { names, display_name, email_verified, admission } = person
  const base = usernameFrom([...names, email])
  const profile = {
    email,
    email_verified,
    roles: admission.roles ?? (['member'] as Role[]),
    password_hash: null,
    ...(display_name && { display_name }),
  }
  for (let n = 1; n <= NUMBERED_NAMES; n++) {
    try {
      return await addUser(ctx, tx, { ...profile, username: numberedUsername(base, n) })
    } catch (error) {
      if (!isCode(error, 'username_taken')) throw error
    }
  }
  return addUser(ctx, tx, { ...profile, username: `${base}-${fingerprint(ctx.id()).slice(0, 7)}` })
}

async function getEnabledUser(tx: Tx, id: string): Promise<UserRow> {
  await lockUser(tx, id)
  const user = await findUser(tx, id)
  if (!user) throw new ChatError('oauth_state_invalid')
  if (user.disabled_at) throw new ChatError('account_disabled')
  return user
}

function isCode(error: unknown, code: ErrorCode): boolean {
  return error instanceof ChatError && error.code === code
}
