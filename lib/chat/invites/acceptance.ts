import type { AuditActor } from '../../accounts/audit/store.ts'
import type { UserRow } from '../../accounts/users/store.ts'
import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { uniqueKey } from '../../core/characters.ts'
import { ChatError } from '../../core/errors.ts'
import { digest } from '../../core/ids.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import { reviewJoin } from '../hooks/before.ts'
import { assertHoldable, join } from '../memberships/join.ts'
import { findMembership } from '../memberships/store.ts'
import { lockConversation } from '../memberships/store-locks.ts'
import { closedReason, type Issuer, signsUp } from './rules.ts'
import type { Accepted } from './schema.ts'
import { findInviteByToken, findIssuer, type InviteRow, takeUse } from './store.ts'

/** The result of accepting; `joined` is the user who became a participant. */
export interface AcceptResult extends Accepted {
  joined?: string
}

/**
 * Makes a user a participant inside a transaction. It locks the conversation and the creator of the invite: no
 * demotion, removal or disabling at the same time, on any node, leaves the user with a role that the creator could not
 * give.
 *
 * @param acceptance.by the user, as the actor of an audit entry
 * @throws ChatError as accepting does; `signup_disabled` for a sign-up that the configuration refuses
 */
export async function acceptAs(
  ctx: Context,
  tx: Tx,
  user: UserRow,
  { token, by, signsUp: isSignup }: { token: string; by: AuditActor; signsUp: boolean },
): Promise<AcceptResult> {
  const found = await findInviteByToken(tx, digest(token))
  const clock = found && (await lockConversation(tx, found.conversation_id))
  if (!found || clock === undefined) throw new ChatError('not_found')
  const { conversation_id } = found
  if (await findMembership(tx, conversation_id, user.id)) return { conversation_id }

  const issuer = await findIssuer(tx, found, ctx.now(), { lock: true })
  // Read again under the locks: it may have been used up or revoked since.
  const invite = assertAcceptable(ctx, await findInviteByToken(tx, found.token_hash), issuer, ctx.now())
  if (invite.email_key !== null && invite.email_key !== uniqueKey(user.email))
    throw new ChatError('invite_email_mismatch')
  if (isSignup) assertSignup(ctx, invite, issuer)
  if (!(await takeUse(tx, invite.id, { signups: isSignup ? 1 : 0 }))) throw new ChatError('invite_used')
  const at = Math.max(ctx.now(), clock + 1)
  tx.advanceClock(conversation_id, at)
  await assertHoldable(ctx, tx, user.id, invite.role)
  await join(tx, conversation_id, { user, role: invite.role, at, by })
  const detail = { conversation_id, role: invite.role }
  tx.audit({ act: 'invite.accepted', ...by, subject_id: invite.id, conversation_id, detail })
  return { conversation_id, joined: user.id }
}

/** Asks the host about a user who accepts an invite; not about a participant, nor for an invite that is closed. */
export async function reviewAcceptance(ctx: Context, actor: Actor, token: string): Promise<void> {
  const invite = await findInviteByToken(ctx.db, digest(token))
  if (!invite || (await findMembership(ctx.db, invite.conversation_id, actor.user_id))) return
  const { conversation_id, role } = assertAcceptable(
    ctx,
    invite,
    await findIssuer(ctx.db, invite, ctx.now()),
    ctx.now(),
  )
  await reviewJoin(ctx, { actor, conversation_id, user_id: actor.user_id, role })
}

/** @throws ChatError `not_found`; `invite_revoked`, `invite_expired`, `invite_used` */
export function assertAcceptable(
  { access }: Pick<Context, 'access'>,
  invite: InviteRow | undefined,
  issuer: Issuer,
  now: number,
): InviteRow {
  if (!invite) throw new ChatError('not_found')
  const refusal = closedReason(access, invite, issuer, now)
  if (refusal) throw new ChatError(refusal)
  return invite
}

/** Whether the configuration lets a new user sign up with an open invite. */
export function canSignUp(
  { access, config }: Pick<Context, 'access' | 'config'>,
  invite: InviteRow,
  issuer: Issuer,
): boolean {
  const { allow_signup, signup_by, signup_max_uses } = config.invites
  return allow_signup && signsUp(access, issuer, signup_by) && invite.signups < signup_max_uses
}

/** @throws ChatError `signup_disabled` */
export function assertSignup(ctx: Pick<Context, 'access' | 'config'>, invite: InviteRow, issuer: Issuer): void {
  if (!canSignUp(ctx, invite, issuer)) throw new ChatError('signup_disabled')
}
