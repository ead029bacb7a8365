import { hasSignIn } from '../../accounts/authentication/rules.ts'
import { type Client, openSession, type SignedIn } from '../../accounts/sessions/service.ts'
import { addNamedUser } from '../../accounts/users/service.ts'
import { findUserByEmail } from '../../accounts/users/store.ts'
import type { Context } from '../../context.ts'
import { uniqueKey } from '../../core/characters.ts'
import { ChatError } from '../../core/errors.ts'
import { digest } from '../../core/ids.ts'
import { reviewJoin } from '../hooks/before.ts'
import { type AcceptResult, acceptAs, assertAcceptable, assertSignup } from './acceptance.ts'
import { provesAddress, signupPauseSeconds, withRefusal } from './rules.ts'
import type { Acceptance } from './schema.ts'
import { findInviteByToken, findIssuer, type InviteRow, lockInvite, setRefusals } from './store.ts'

/**
 * Accepts an invite for a new user, who gets an account and is signed in. The address counts as verified only if the
 * invite is for that address, and its maker cannot know the token.
 *
 * @throws ChatError what accepting throws; `unauthenticated` without an account to create; `signup_disabled`;
 *   `email_taken`, `username_taken`; `rate_limited` after several addresses that have an account
 */
export async function signUp(
  ctx: Context,
  client: Client,
  input: Acceptance,
): Promise<AcceptResult & { signed_in: SignedIn }> {
  const { username, display_name, email, password, token, claim } = input
  if (email === undefined || password === undefined) throw new ChatError('unauthenticated')
  // Without a sign-in no sign-up is there either, as everywhere.
  if (!ctx.host.identity && !hasSignIn(ctx)) throw new ChatError('not_found')
  // A host with its own authentication also creates the users.
  if (!hasSignIn(ctx)) throw new ChatError('unauthenticated')
  // Before the password is hashed, and again in the transaction.
  const invite = await assertSignsUp(ctx, token, email)
  await assertAddressFree(ctx, invite.id, email)
  const { conversation_id, role } = invite
  await reviewJoin(ctx, { conversation_id, email, role })
  const password_hash = await ctx.accounts.passwords.hash(password, { ip: client.ip })
  const newcomer = {
    username,
    ...(display_name && { display_name }),
    email,
    email_verified: provesAddress(invite),
    password_hash,
    roles: ['member' as const],
  }
  const guest = claim ? await ctx.accounts.guests.find(ctx, client) : undefined
  try {
    const accepted = await ctx.write(async (tx) => {
      const user = await addNamedUser(ctx, tx, newcomer)
      const by = { actor_id: user.id, ip: client.ip }
      const accepted = await acceptAs(ctx, tx, user, { token, by, signsUp: true })
      await ctx.accounts.joinRooms(tx, user, client.ip)
      const { conversation_id } = accepted
      const about = { subject_id: conversation_id, conversation_id }
      tx.audit({ act: 'invite.signed_up', ...by, ...about })
      return { ...accepted, signed_in: await openSession(ctx, tx, user, client) }
    })
    await ctx.accounts.guests.claimAfter(ctx, accepted.signed_in.user.id, guest)
    return accepted
  } catch (error) {
    // The address got an account after the first check: that counts as well.
    if (error instanceof ChatError && error.code === 'email_taken') await assertAddressFree(ctx, invite.id, email)
    throw error
  }
}

/** @throws ChatError for an invite that is not open, is for another address, or allows no sign-up */
async function assertSignsUp(ctx: Context, token: string, email: string): Promise<InviteRow> {
  return ctx.db.snapshot(async (db) => {
    const found = await findInviteByToken(db, digest(token))
    const issuer = found && (await findIssuer(db, found, ctx.now()))
    const invite = assertAcceptable(ctx, found, issuer, ctx.now())
    assertSignup(ctx, invite, issuer)
    // Other addresses are not looked up: an invite for one address reveals nothing about others.
    if (invite.email_key !== null && invite.email_key !== uniqueKey(email)) throw new ChatError('invite_email_mismatch')
    return invite
  })
}

/**
 * An invite must not reveal an unlimited number of addresses with an account. The invite is locked, so that
 * simultaneous sign-ups, on any node, learn no more than sequential ones.
 *
 * @throws ChatError `email_taken`; `rate_limited`, for any address, after too many refusals
 */
async function assertAddressFree(ctx: Context, inviteId: string, email: string): Promise<void> {
  const refusal = await ctx.write(async (tx) => {
    const invite = await lockInvite(tx, inviteId)
    if (!invite) return new ChatError('not_found')
    const retry_after_seconds = signupPauseSeconds(invite, ctx.now())
    if (retry_after_seconds > 0) return new ChatError('rate_limited', { retry_after_seconds })
    if (!(await findUserByEmail(tx, email))) return undefined
    await setRefusals(tx, inviteId, withRefusal(invite, ctx.now()))
    return new ChatError('email_taken')
  })
  if (refusal) throw refusal
}
