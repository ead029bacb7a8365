import { type Client, openSession, type SignedIn } from '../auth/service.ts'
import type { Actor, Context } from '../context.ts'
import { enterDoor, visitDoor } from '../conversations/access.ts'
import { join } from '../conversations/participants.ts'
import { canManage, canModerate, mayWrite } from '../conversations/rules.ts'
import { findPlace, lockConversation } from '../conversations/store.ts'
import { ChatError } from '../errors.ts'
import type { Tx } from '../events/write.ts'
import { digest } from '../ids.ts'
import { uniqueKey } from '../users/rules.ts'
import { addUser } from '../users/service.ts'
import { findUser, type UserRow } from '../users/store.ts'
import { createInvite } from './create.ts'
import { refusalOf } from './rules.ts'
import { Acceptance, type Accepted, type CreatedInvite, InviteInput, type Invites } from './schema.ts'
import {
  findInvite,
  findInviteByToken,
  type InviteRow,
  listOpenInvites,
  markRevoked,
  takeUse,
  toInvite,
} from './store.ts'

/** What each use-case takes last. */
export const inputs = { create: InviteInput, accept: Acceptance }

/**
 * Makes an invite to a conversation. Its token is answered this once, and kept as a digest only.
 *
 * @throws ChatError `not_found`; `forbidden` below admin, or to invite an owner without being one
 */
export function create(ctx: Context, actor: Actor, conversationId: string, input: InviteInput): Promise<CreatedInvite> {
  return ctx.write(async (tx) => {
    const role = await enterDoor(ctx, tx, actor, conversationId)
    if (!canManage(role, input.role)) throw new ChatError('forbidden')
    return createInvite(ctx, tx, actor, conversationId, input)
  })
}

/** The invites that can still be accepted. @throws ChatError `not_found`; `forbidden` below admin */
export function list(ctx: Context, actor: Actor, conversationId: string): Promise<Invites> {
  return ctx.db.snapshot(async (db) => {
    if (!canModerate(await visitDoor(db, actor, conversationId))) throw new ChatError('forbidden')
    return { invites: (await listOpenInvites(db, conversationId, ctx.now())).map(toInvite) }
  })
}

/**
 * Accepts an invite: the actor takes part, or without one a new user does, who is signed in. Somebody who takes part
 * already uses nothing up.
 *
 * @throws ChatError `not_found`; `invite_revoked`, `invite_expired`, `invite_used`; `invite_email_mismatch`;
 *   `forbidden` for a read-only user; `unauthenticated` with neither an actor nor an account to make; `email_taken`, `username_taken`; `conflict` for a
 *   third one in a conversation of two
 */
export async function accept(
  ctx: Context,
  actor: Actor | undefined,
  client: Client,
  input: Acceptance,
): Promise<Accepted & { signed_in?: SignedIn }> {
  const { signed_in, joined, conversation_id } = await (actor
    ? acceptFor(ctx, actor, input)
    : signUp(ctx, client, input))
  if (joined) await ctx.presence.introduce(conversation_id, joined)
  return { conversation_id, ...(signed_in && { signed_in }) }
}

/** What accepting has done; `joined` is who takes part now and did not before. */
interface Outcome extends Accepted {
  joined?: string
  signed_in?: SignedIn
}

function acceptFor(ctx: Context, actor: Actor, { token }: Acceptance): Promise<Outcome> {
  if (!mayWrite(actor.roles)) throw new ChatError('forbidden')
  return ctx.write(async (tx) => acceptAs(ctx, tx, await getUser(tx, actor.user_id), token))
}

async function signUp(ctx: Context, client: Client, input: Acceptance): Promise<Outcome> {
  const { username, email, password, token } = input
  if (username === undefined || email === undefined || password === undefined) throw new ChatError('unauthenticated')
  // Where the host decides who calls, it also decides who is new.
  if (ctx.identity) throw new ChatError('unauthenticated')
  // Before the work of hashing, and again with everything else.
  assertOpen(await findInviteByToken(ctx.db, digest(token)), ctx.now())
  const password_hash = await ctx.passwords.hash(password, { ip: client.ip })
  return ctx.write(async (tx) => {
    const user = await addUser(ctx, tx, { username, email, email_verified: false, password_hash, roles: ['member'] })
    const accepted = await acceptAs(ctx, tx, user, token)
    tx.record({ act: 'invite.signed_up', actor_id: user.id, subject_id: accepted.conversation_id, ip: client.ip })
    return { ...accepted, signed_in: await openSession(ctx, tx, user, client) }
  })
}

/**
 * Revokes an invite, also one that is revoked already.
 *
 * @throws ChatError `not_found` for whom has nothing to do with it; `forbidden` for a participant who neither made it
 *   nor is owner or admin
 */
export async function revoke(ctx: Context, actor: Actor, token: string): Promise<void> {
  await ctx.write(async (tx) => revokeFound(ctx, tx, actor, await findInviteByToken(tx, digest(token))))
}

/** The same for whom has the id of an invite and not its token. @throws ChatError `not_found`, `forbidden` */
export async function revokeById(ctx: Context, actor: Actor, inviteId: string): Promise<void> {
  await ctx.write(async (tx) => revokeFound(ctx, tx, actor, await findInvite(tx, inviteId)))
}

async function revokeFound(ctx: Context, tx: Tx, actor: Actor, invite: InviteRow | undefined): Promise<void> {
  if (!invite) throw new ChatError('not_found')
  const isOwn = invite.created_by === actor.user_id
  if (!isOwn && !canModerate(await visitDoor(tx, actor, invite.conversation_id))) throw new ChatError('forbidden')
  await markRevoked(tx, invite.id, ctx.now())
}

async function acceptAs(ctx: Context, tx: Tx, user: UserRow, token: string): Promise<Outcome> {
  const found = await findInviteByToken(tx, digest(token))
  const clock = found && (await lockConversation(tx, found.conversation_id))
  if (!found || clock === undefined) throw new ChatError('not_found')
  const { conversation_id } = found
  if (await findPlace(tx, conversation_id, user.id)) return { conversation_id }

  // Read again: who was faster may have used it up, or revoked it.
  const invite = assertOpen(await findInviteByToken(tx, found.token_hash), ctx.now())
  if (invite.email_key !== null && invite.email_key !== uniqueKey(user.email))
    throw new ChatError('invite_email_mismatch')
  if (!(await takeUse(tx, invite.id))) throw new ChatError('invite_used')
  const at = Math.max(ctx.now(), clock + 1)
  tx.stamp(conversation_id, at)
  await join(tx, conversation_id, { user, role: invite.role, at })
  return { conversation_id, joined: user.id }
}

function assertOpen(invite: InviteRow | undefined, now: number): InviteRow {
  if (!invite) throw new ChatError('not_found')
  const refusal = refusalOf(invite, now)
  if (refusal) throw new ChatError(refusal)
  return invite
}

async function getUser(tx: Tx, id: string): Promise<UserRow> {
  const user = await findUser(tx, id)
  if (!user) throw new ChatError('unauthenticated')
  return user
}
