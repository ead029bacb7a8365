import type { Context } from '../../context.ts'
import { type Actor, isOperator, mayWrite } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import type { Tx } from '../../live/transaction.ts'
import type { Queries } from '../../storage/database.ts'
import type { Micros } from '../../storage/sql.ts'
import type { ParticipantRole } from './schema.ts'
import { findConversation, findPlace, lockConversation, lockPlace, type Where } from './store.ts'

export type { Where } from './store.ts'

/** What somebody is in a conversation. */
export interface Place {
  role: ParticipantRole
  joined_at: Micros
}

/** Somebody's place in a conversation that a transaction is alone in; `clock` is the conversation's last instant. */
export interface LockedPlace extends Place {
  conversation_id: string
  clock: Micros
}

/** A place in a conversation that is being changed at the instant `at`: unique and rising within it. */
export interface Entered extends Place {
  conversation_id: string
  at: Micros
}

/**
 * The actor's place in a conversation, for reading. Every read of a conversation asks here.
 *
 * @throws ChatError `not_found`, the same for an outsider as for a conversation that does not exist
 */
export async function visit(db: Queries, actor: Actor, conversationId: string | undefined): Promise<Place> {
  const place = conversationId === undefined ? undefined : await findPlace(db, conversationId, actor.user_id)
  if (!place) throw new ChatError('not_found')
  return place
}

/**
 * The actor's place in a conversation, for noting something about the actor in it that others do not see: alone in the
 * conversation like {@link enter}, but also for those who may only read.
 *
 * @throws ChatError `not_found` as {@link visit}
 */
export async function visitLocked(tx: Queries, actor: Actor, where: Where): Promise<LockedPlace> {
  const place = await lockPlace(tx, where, actor.user_id)
  if (!place) throw new ChatError('not_found')
  return place
}

/**
 * The actor's place in a conversation, for changing it. Every change of a conversation starts here: from then on the
 * transaction is alone in it, and what it reads there stays true.
 *
 * @param options.evenReadOnly also for a user who may change nothing else
 * @returns with `at`, the instant of the change: unique and rising within the conversation
 * @throws ChatError `not_found` as {@link visit}; `forbidden` for a read-only user
 */
export async function enter(
  ctx: Context,
  tx: Tx,
  actor: Actor,
  where: Where,
  options: { evenReadOnly?: boolean } = {},
): Promise<Entered> {
  const { conversation_id, role, joined_at, clock } = await visitLocked(tx, actor, where)
  if (!options.evenReadOnly && !mayWrite(actor.roles)) throw new ChatError('forbidden')
  const at = Math.max(ctx.now(), clock + 1)
  tx.advanceClock(conversation_id, at)
  return { conversation_id, role, joined_at, at }
}

/**
 * What the actor is to the invites of a conversation, for reading them: its role in it. The operator, who takes part in
 * none, counts as an owner here, and here alone: letting people in shows nothing of what they say.
 *
 * @throws ChatError `not_found` as {@link visit}
 */
export async function visitDoor(db: Queries, actor: Actor, conversationId: string): Promise<ParticipantRole> {
  if (!isOperator(actor)) return (await visit(db, actor, conversationId)).role
  if (!(await findConversation(db, conversationId))) throw new ChatError('not_found')
  return 'owner'
}

/**
 * The same for making invites: alone in the conversation, as {@link enter}.
 *
 * @throws ChatError `not_found`, `forbidden` as {@link enter}
 */
export async function enterDoor(ctx: Context, tx: Tx, actor: Actor, conversationId: string): Promise<ParticipantRole> {
  if (!isOperator(actor)) return (await enter(ctx, tx, actor, { conversation_id: conversationId })).role
  if ((await lockConversation(tx, conversationId)) === undefined) throw new ChatError('not_found')
  return 'owner'
}

/**
 * For a change of a conversation that nobody in particular makes: alone in it, as {@link enter}.
 *
 * @param options.unlessLocked does not wait for who is changing it now
 * @returns the instant of the change; `undefined` when the conversation is gone, or locked
 */
export async function enterUnattended(
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
