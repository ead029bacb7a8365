import { listMerged } from '../../accounts/users/store-merged.ts'
import type { Context } from '../../context.ts'
import { type Access, type Act, assertMay, assertMayWrite, refusalByRoles, toRefused } from '../../core/access.ts'
import { type Actor, isOperator } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { Queries } from '../../storage/database.ts'
import type { Micros } from '../../storage/sql.ts'
import type { ParticipantRole } from '../conversations/schema.ts'
import { CLOSED, mayBrowse, mayReadOpen } from './rules.ts'
import { findMembership, type ReadFloors } from './store.ts'
import { findConversation, isPlace } from './store-conversations.ts'
import { isClosed } from './store-direct.ts'
import {
  findVisibilityFor,
  type LockOptions,
  lockConversation,
  lockMembershipRow,
  lockPlace,
  type Where,
} from './store-locks.ts'

export type { Where } from './store-locks.ts'

/** The role of a participant, when the participant joined, and how far the participant has read. */
export interface Membership extends ReadFloors {
  role: ParticipantRole
  /** The policy of the conversation, as it is stored; missing for a system actor. */
  policy?: string | null
  /** Since when the conversation is frozen. */
  frozen_at?: Micros | null
  /** Set for a user who reads an open conversation without participating. */
  is_outside?: true
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

/** The membership of a user who makes a conversation. */
export const FOUNDER: Membership = { ...EVERYWHERE, policy: null, frozen_at: null }

/** A reader of an open conversation has no role in it: the empty text is the name of none. */
const OUTSIDE: Membership = { ...EVERYWHERE, role: '', is_outside: true }

/** What decides what a role in the service may do. */
type WithAccess = Pick<Context, 'access'>

/**
 * How the actor reads a conversation: as a participant, or as a user with the right to browse, who reads an open one without
 * participating. Every read of what all participants read calls this first; a participant costs no more than a look at the
 * membership.
 *
 * @throws ChatError `not_found`, the same for an outsider as for a conversation that does not exist
 */
export async function requireReader(
  { access }: WithAccess,
  db: Queries,
  actor: Actor,
  conversation_id: string | undefined,
): Promise<Membership> {
  if (conversation_id === undefined) throw new ChatError('not_found')
  if (actor.system !== undefined && (await isPlace(db, conversation_id, actor.user_id))) return EVERYWHERE
  const membership = await findMembership(db, conversation_id, actor.user_id)
  if (membership) return membership
  if (await isOpenTo(access, db, actor, { conversation_id })) return OUTSIDE
  throw new ChatError('not_found')
}

/** Whether an actor reads a conversation without participating in it. */
async function isOpenTo(access: Access, db: Queries, actor: Actor, where: Where): Promise<boolean> {
  return mayBrowse(access, actor) && mayReadOpen(access, actor, await findVisibilityFor(db, where, actor.user_id))
}

/**
 * The actor's membership in a conversation, for reading what concerns the actor as its participant, or before a change.
 *
 * @throws ChatError `not_found` as {@link requireReader}; `forbidden` for a reader who does not participate
 */
export async function requireMember(
  ctx: WithAccess,
  db: Queries,
  actor: Actor,
  conversationId: string | undefined,
  purpose: Purpose = { evenReadOnly: true },
): Promise<Membership> {
  const membership = await requireReader(ctx, db, actor, conversationId)
  if (membership.is_outside) throw notJoined(ctx, actor, purpose)
  return membership
}

/** For what the membership is needed: it decides why a user who has not joined is refused. */
interface Purpose {
  /** The change, if the actor's roles in the service are asked about it in particular. */
  act?: Act | undefined
  /** Set for what also a user with the role `read_only` may do: no role refuses it. */
  evenReadOnly?: boolean
}

/** @throws ChatError `forbidden` for a reader who does not participate */
export function assertJoined({ is_outside }: Membership): void {
  if (is_outside) throw newNotJoined()
}

const newNotJoined = () => new ChatError('forbidden', { reason: 'not_joined' })

/** The roles of the service are asked before the conversation: who may not post at all is not told to join. */
function notJoined({ access }: WithAccess, actor: Actor, { act, evenReadOnly }: Purpose): ChatError {
  const byRoles = evenReadOnly ? undefined : refusalByRoles(access, actor, act)
  return byRoles ? toRefused(byRoles) : newNotJoined()
}

/**
 * The actor's membership, for storing something about the actor that other participants do not see. Locks the
 * conversation like {@link lockAsMember}, but also for users who may only read.
 *
 * @throws ChatError `not_found`, `forbidden` as {@link requireMember}; `unauthenticated` for a user who was merged meanwhile
 */
export async function lockMembership(
  ctx: WithAccess,
  tx: Queries,
  actor: Actor,
  where: Where,
  purpose: Purpose = { evenReadOnly: true },
): Promise<LockedMembership> {
  const isSystem = actor.system !== undefined
  const membership = isSystem
    ? await lockPlace(tx, where, actor.user_id)
    : await lockMembershipRow(tx, where, actor.user_id)
  if (!membership) throw await refusalOf(ctx, tx, actor, where, purpose)
  return isSystem ? { ...membership, ...EVERYWHERE } : (membership as LockedMembership)
}

/**
 * Why a user may not change a conversation in which the user does not participate: one who was merged into another is not
 * signed in, and one who reads it has not joined.
 *
 * @param options.refusal for a user who does participate, and for one who knows nothing of the conversation
 */
export async function refusalOf(
  ctx: WithAccess,
  db: Queries,
  actor: Actor,
  where: Where,
  { refusal = new ChatError('not_found'), ...purpose }: Purpose & { refusal?: ChatError },
): Promise<ChatError> {
  const [merged] = await listMerged(db, [actor.user_id])
  if (merged) return new ChatError('unauthenticated')
  return (await isOpenTo(ctx.access, db, actor, where)) ? notJoined(ctx, actor, purpose) : refusal
}

/** The failure of a change that waits with others, for a user who does not participate as {@link refusalOf} explains it. */
export function unlessOutside(ctx: Pick<Context, 'access' | 'db'>, actor: Actor, where: Where, act: Act) {
  return async (error: unknown): Promise<never> => {
    throw error instanceof ChatError && error.code === 'not_found'
      ? await refusalOf(ctx, ctx.db, actor, where, { act, refusal: error })
      : error
  }
}

/**
 * The actor's membership, for changing the conversation. Every change of a conversation calls this first: the
 * conversation is locked until the transaction ends, so what the transaction reads of it stays true.
 *
 * @param purpose with `evenReadOnly`, also for a user with the role `read_only`
 * @returns with `at`, the instant of the change: unique and increasing in the conversation
 * @throws ChatError `not_found` as {@link requireMember}; `forbidden` for a read-only user
 */
export async function lockAsMember(
  ctx: Context,
  tx: Tx,
  actor: Actor,
  where: Where,
  purpose: Purpose = {},
): Promise<LockedForChange> {
  const { clock, ...membership } = await lockMembership(ctx, tx, actor, where, purpose)
  const { conversation_id, role, policy, frozen_at, joined_at, is_direct } = membership
  if (!purpose.evenReadOnly) assertMayWrite(ctx.access, actor, purpose.act)
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
  const place = await lockAsMember(ctx, tx, actor, where, { act })
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
 * The role in which the actor reads the invites of a conversation, with its policy. The operator, a participant of no conversation, reads
 * invites as an owner: they contain nothing of the messages.
 *
 * @throws ChatError `not_found` as {@link requireMember}
 */
export async function requireInviteReader(
  ctx: WithAccess,
  db: Queries,
  actor: Actor,
  conversationId: string,
): Promise<{ role: ParticipantRole; policy?: string | null }> {
  if (!isOperator(actor)) return requireMember(ctx, db, actor, conversationId)
  if (!(await findConversation(db, conversationId))) throw new ChatError('not_found')
  return { role: 'owner' }
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
  if (!isOperator(actor)) return lockAsMember(ctx, tx, actor, { conversation_id: conversationId }, { act: 'invite' })
  if ((await lockConversation(tx, conversationId)) === undefined) throw new ChatError('not_found')
  const { is_direct, frozen_at } = (await findConversation(tx, conversationId))!
  return { role: 'owner', frozen_at, is_direct }
}

/**
 * Locks a conversation for a change by the service itself, without an actor.
 *
 * @returns the instant of the change; `undefined` if the conversation is deleted, or locked
 * @throws ChatError `unavailable` if it stays locked for `wait_ms`
 */
export async function lockAsSystem(
  ctx: Pick<Context, 'now'>,
  tx: Tx,
  conversationId: string,
  options: LockOptions = {},
): Promise<Micros | undefined> {
  return (await lockWithClock(ctx, tx, conversationId, options))?.at
}

/** Locks a conversation as {@link lockAsSystem} does. @returns also the clock before: the instant of the last change */
export async function lockWithClock(
  ctx: Pick<Context, 'now'>,
  tx: Tx,
  conversationId: string,
  options: LockOptions = {},
): Promise<{ at: Micros; clock: Micros } | undefined> {
  const clock = await lockConversation(tx, conversationId, options)
  if (clock === undefined) return undefined
  const at = Math.max(ctx.now(), clock + 1)
  tx.advanceClock(conversationId, at)
  return { at, clock }
}
