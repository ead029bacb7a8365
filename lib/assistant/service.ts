import type { Actor, Context } from '../context.ts'
import { enter, visit } from '../conversations/access.ts'
import { canModerate } from '../conversations/rules.ts'
import { ChatError } from '../errors.ts'
import { findMessage } from '../messages/store.ts'
import { CANCELLED, endAnswer } from './ending.ts'
import { type CancelledAnswer, type Chunk, ChunksQuery } from './schema.ts'
import { listChunks } from './store.ts'

/** What each use-case takes last. */
export const inputs = { chunks: ChunksQuery }

/**
 * Stops an answer; what was produced stays. One that has ended is left as it is.
 *
 * @throws ChatError `not_found`; `forbidden` for whom did not ask and is neither owner nor admin of the conversation
 */
export async function cancel(ctx: Context, actor: Actor, messageId: string): Promise<CancelledAnswer> {
  const { isCancelled, status } = await ctx.write(async (tx) => {
    const place = await enter(ctx, tx, actor, { message_id: messageId })
    const message = (await findMessage(tx, messageId))!
    if (message.posted_by !== actor.user_id && !canModerate(place.role)) throw new ChatError('forbidden')
    const { conversation_id } = message
    const isCancelled = await endAnswer(tx, { message_id: messageId, conversation_id }, CANCELLED)
    return { isCancelled, status: isCancelled ? CANCELLED.status : message.status }
  })
  if (isCancelled) ctx.answers.cancelled(messageId)
  return { message_id: messageId, status }
}

/**
 * What an answer was produced as, piece by piece in order; of a deleted one nothing.
 *
 * @throws ChatError `not_found`
 */
export function chunks(ctx: Context, actor: Actor, messageId: string, input: ChunksQuery): Promise<Chunk[]> {
  return ctx.db.snapshot(async (db) => {
    const row = await findMessage(db, messageId)
    await visit(db, actor, row?.conversation_id)
    return row!.deleted_at ? [] : listChunks(db, messageId, input.from, input.limit)
  })
}
