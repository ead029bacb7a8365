import { listMerged } from '../../accounts/users/store-merged.ts'
import type { Context } from '../../context.ts'
import { type Act, assertMay, assertMayWrite } from '../../core/access.ts'
import { type Actor, isOperator } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { Queries } from '../../storage/database.ts'
import type { Micros } from '../../storage/sql.ts'
import type { ParticipantRole } from '../conversations/schema.ts'
import { CLOSED } from './rules.ts'
import { findMembership, type ReadFloors } from './store.ts'
import { findConversation, isPlace } from './store-conversations.ts'
import { isClosed } from './store-direct.ts'
import { lockConversation, lockMembershipRow, lockPlace, type Where } from './store-locks.ts'

export type { Where } from './store-locks.ts'

/** The role of a participant, when the participant joined, and how far the participant has read. */
export interface Membership extends ReadFloors {
  role: ParticipantRole
  /** The policy of the conversation, as it is stored; missing for a system actor. */
  policy?: string | null
  /** Since when the conversation is frozen. */
  frozen_at?: Micros | null
}

/** A membership whose conversation the transaction has locked; `clock` is the conversation's last instant. */
export interface LockedMembership extends Membership {
  conversation_id: string
  clock: Micros
  is_direct: number
  /** 1 if the participant shares read markers; missing for a system actor. */
  receipts?: number
  /** The number of unread mentions of the participant; missing for a system actor. */
  unread_mentions?: number
}

/** A membership in a conversation that the transaction changes at the instant `at`: unique and increasing in it. */
export interface LockedForChange extends Pick<Membership, 'role' | 'policy' | 'frozen_at' | 'joined_at'> {
  conversation_id: string
  at: Micros
  is_direct: number
}

/** A system actor participates in no conversation, and has an owner's rights in all. */
const EVERYWHERE: Membership = {
  role: 'owner',
  joined_at: 0,
  replies_read_to: 0,
  roots_read_to: 0,
  replies_read_at: 0,
  roots_read_at: 0,
}

/**
 * The actor's membership in a conversation, for reading. Every read of a conversation calls this first.
 *
 * @throws ChatError `not_found`, the same for an outsider as for a conversation that does not exist
 */
export async function requireMember(
  db: Queries,
  actor: Actor,
  conversationId: string | undefined,
): Promise<Membership> {
  if (conversationId === undefined) throw new ChatError('not_found')
  if (actor.system !== undefined && (await isPlace(db, conversationId, actor.user_id))) return EVERYWHERE
  const membership = await findMembership(db, conversationId, actor.user_id)
  if (!membership) throw new ChatError('not_found')
  return membership
}

/**
 * The actor's membership, for storing something about the actor that other participants do not see. Locks the
 * conversation like {@link lockAsMember}, but also for users who may only read.
 *
 * @throws ChatError `not_found` as {@link requireMember}; `unauthenticated` for a user who was merged meanwhile
 */
export async function lockMembership(tx: Queries, actor: Actor, where: Where): Promise<LockedMembership> {
  const isSystem = actor.system !== undefined
  const membership = isSystem
    ? await lockPlace(tx, where, actor.user_id)
    : await lockMembershipRow(tx, where, actor.user_id)
  if (!membership) throw await refusalOf(tx, actor)
  return isSystem ? { ...membership, ...EVERYWHERE } : (membership as LockedMembership)
}

/** Why a user who participates in no such conversation may not change it: one who was merged into another is not signed in. */
export async function refusalOf(
  db: Queries,
  { user_id }: Actor,
  refusal = new ChatError('not_found'),
): Promise<ChatError> {
  const [merged] = await listMerged(db, [user_id])
  return merged ? new ChatError('unauthenticated') : refusal
}

/**
 * The actor's membership, for changing the conversation. Every change of a conversation calls this first: the
 * conversation is locked until the transaction ends, so what the transaction reads of it stays true.
 *
 * @param options.evenReadOnly also for a user with the role `read_only`
 * @returns with `at`, the instant of the change: unique and increasing in the conversation
 * @throws ChatError `not_found` as {@link requireMember}; `forbidden` for a read-only user
 */
export async function lockAsMember(
  ctx: Context,
  tx: Tx,
  actor: Actor,
  where: Where,
  options: { evenReadOnly?: boolean } = {},
): Promise<LockedForChange> {
  const { clock, ...membership } = await lockMembership(tx, actor, where)
  const { conversation_id, role, policy, frozen_at, joined_at, is_direct } = membership
  if (!options.evenReadOnly) assertMayWrite(ctx.access, actor)
  const at = Math.max(ctx.now(), clock + 1)
  tx.advanceClock(conversation_id, at)
  return { conversation_id, role, policy, frozen_at, joined_at, at, is_direct }
}

/** As {@link lockAsMember}, for participants with a right. @throws ChatError `not_found`, `forbidden` */
export async function lockWithRight(
  ctx: Context,
  tx: Tx,
  actor: Actor,
  where: Where,
  act: Act,
): Promise<LockedForChange> {
  const place = await lockAsMember(ctx, tx, actor, where)
  assertMay(ctx.access, { ...place, actor }, act)
  return place
}

/**
 * Refuses additions by participants who may post, in a direct conversation whose other person has no active account.
 * Only in a direct conversation does it cost a statement.
 *
 * @throws ChatError `conflict`
 */
export async function refuseClosed(tx: Queries, place: LockedForChange, actor: Actor): Promise<void> {
  if (place.is_direct === 1 && (await isClosed(tx, place.conversation_id, actor.user_id)))
    throw new ChatError('conflict', CLOSED)
}

/**
 * The role in which the actor reads the invites of a conversation. The operator, a participant of no conversation, reads
 * invites as an owner: they contain nothing of the messages.
 *
 * @throws ChatError `not_found` as {@link requireMember}
 */
export async function requireInviteReader(db: Queries, actor: Actor, conversationId: string): Promise<ParticipantRole> {
  if (!isOperator(actor)) return (await requireMember(db, actor, conversationId)).role
  if (!(await findConversation(db, conversationId))) throw new ChatError('not_found')
  return 'owner'
}

/**
 * The role in which the actor creates invites; locks the conversation as {@link lockAsMember}.
 *
 * @throws ChatError `not_found`, `forbidden` as {@link lockAsMember}
 */
export async function lockForInvites(
  ctx: Context,
  tx: Tx,
  actor: Actor,
  conversationId: string,
): Promise<Pick<LockedForChange, 'role' | 'policy' | 'frozen_at' | 'is_direct'>> {
  if (!isOperator(actor)) return lockAsMember(ctx, tx, actor, { conversation_id: conversationId })
  if ((await lockConversation(tx, conversationId)) === undefined) throw new ChatError('not_found')
  const { is_direct, frozen_at } = (await findConversation(tx, conversationId))!
  return { role: 'owner', frozen_at, is_direct }
}

/**
 * Locks a conversation for a change by the service itself, without an actor.
 *
 * @param options.unlessLocked returns at once if another transaction has locked the conversation
 * @returns the instant of the change; `undefined` if the conversation is deleted, or locked
 */
export async function lockAsSystem(
  ctx: Pick<Context, 'now'>,
  tx: Tx,
  conversationId: string,
  options: { unlessLocked?: boolean } = {},
): Promise<Micros | undefined> {
  const clock = await lockConversation(tx, conversationId, options)
  if (clock === undefined) return undefined
  const at = Math.max(ctx.now(), clock + 1)
  tx.advanceClock(conversationId, at)
  return at
}
