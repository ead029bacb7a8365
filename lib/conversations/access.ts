import type { Actor, Context } from '../context.ts'
import { ChatError } from '../errors.ts'
import type { Tx } from '../events/write.ts'
import type { Queries } from '../storage/database.ts'
import type { Micros } from '../storage/sql.ts'
import { mayWrite } from './rules.ts'
import type { ParticipantRole } from './schema.ts'
import { findPlace, lockPlace } from './store.ts'

/** What somebody is in a conversation. */
export interface Place {
  role: ParticipantRole
  joined_at: Micros
}

interface LockedPlace extends Place {
  /** The conversation's last instant. */
  clock: Micros
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
export async function visitLocked(tx: Queries, actor: Actor, conversationId: string | undefined): Promise<LockedPlace> {
  const place = conversationId === undefined ? undefined : await lockPlace(tx, conversationId, actor.user_id)
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
  conversationId: string | undefined,
  options: { evenReadOnly?: boolean } = {},
): Promise<Place & { at: Micros }> {
  const place = await visitLocked(tx, actor, conversationId)
  if (!options.evenReadOnly && !mayWrite(actor.roles)) throw new ChatError('forbidden')
  const at = Math.max(ctx.now(), place.clock + 1)
  tx.stamp(conversationId!, at)
  return { role: place.role, joined_at: place.joined_at, at }
}
