import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { useCase } from '../../core/use-case.ts'
import type { Tx } from '../../live/transaction.ts'
import { CANCELLED, endAnswer } from '../answers/ending.ts'
import { type LockedForChange, lockAsMember, type Where } from '../conversations/access.ts'
import { canPost } from '../conversations/rules.ts'
import { replaceContent } from './revisions.ts'
import { assertContentFits, isRedacted, mayDelete, mayRestore } from './rules.ts'
import { Deletion, Edit } from './schema.ts'
import { findMessage, type MessageRow, markDeleted, markRestored } from './store.ts'
import { recount } from './store-threads.ts'

/**
 * Replaces the text of the actor's own message; the previous text is kept as a revision.
 *
 * @throws ChatError `not_found`; `forbidden` for another's message, a viewer or a read-only user; `message_deleted`;
 *   `message_streaming` for an answer in progress
 */
export const edit = useCase({
  takes: ['actor', 'message_id'],
  input: Edit,
  errors: ['not_found', 'forbidden', 'message_deleted', 'message_streaming'],
  run: async (ctx, actor, messageId, input): Promise<void> => {
    assertContentFits(input.content, ctx.config.limits.message_bytes)
    await ctx.write(async (tx) => {
      const { at } = await lockToPost(ctx, tx, actor, { message_id: messageId })
      const message = (await findMessage(tx, messageId))!
      if (message.posted_by !== actor.user_id) throw new ChatError('forbidden')
      if (message.deleted_at) throw new ChatError('message_deleted')
      if (message.status === 'streaming') throw new ChatError('message_streaming')
      const { content, reason = null } = input
      await replaceContent(tx, messageId, { content, reason, at, keep: ctx.config.limits.revisions_per_message })
      tx.emit(message.conversation_id, { type: 'message.edited', message_id: messageId })
    })
  },
})

/**
 * Deletes a message: its text can no longer be read, its replies stay. An answer in progress is cancelled.
 *
 * @throws ChatError `not_found`; `forbidden` for a viewer, and for another's message unless the actor is an owner or
 *   admin of the conversation; `message_deleted` for a deleted message
 */
export const remove = useCase({
  takes: ['actor', 'message_id'],
  input: Deletion,
  errors: ['not_found', 'forbidden', 'message_deleted'],
  run: async (ctx, actor, messageId, input): Promise<void> => {
    const isCancelled = await ctx.write(async (tx) => {
      const { message, place } = await lockMessage(ctx, tx, actor, messageId)
      if (!mayDelete({ actor, role: place.role }, message)) throw new ChatError('forbidden')
      if (message.deleted_at) throw new ChatError('message_deleted')
      const answer = { message_id: messageId, conversation_id: message.conversation_id }
      const isStopped = await endAnswer(tx, answer, CANCELLED)
      await markDeleted(tx, messageId, { at: place.at, by: actor.user_id, reason: input.reason })
      await recount(tx, message, -1)
      tx.countMessages(message.conversation_id, -1)
      tx.emit(message.conversation_id, { type: 'message.deleted', message_id: messageId })
      return isStopped
    })
    if (isCancelled) ctx.answers.cancelled(messageId)
  },
})

/**
 * Restores a deleted message.
 *
 * @throws ChatError `not_found`; `forbidden` unless the actor deleted it, or is owner or admin of the
 *   conversation; `message_not_deleted`; `conflict` if the text was erased together with its author
 */
export const restore = useCase({
  takes: ['actor', 'message_id'],
  errors: ['not_found', 'forbidden', 'message_not_deleted', 'conflict'],
  run: async (ctx, actor, messageId): Promise<void> => {
    await ctx.write(async (tx) => {
      const { message, place } = await lockMessage(ctx, tx, actor, messageId)
      if (!mayRestore({ actor, role: place.role }, message)) throw new ChatError('forbidden')
      if (!message.deleted_at) throw new ChatError('message_not_deleted')
      if (isRedacted(message)) throw new ChatError('conflict', { message: 'Its text is gone with its author.' })
      await markRestored(tx, messageId)
      await recount(tx, message, 1)
      tx.countMessages(message.conversation_id, 1)
      tx.emit(message.conversation_id, { type: 'message.restored', message_id: messageId })
    })
  },
})

async function lockMessage(
  ctx: Context,
  tx: Tx,
  actor: Actor,
  messageId: string,
): Promise<{ message: MessageRow; place: LockedForChange }> {
  const place = await lockAsMember(ctx, tx, actor, { message_id: messageId })
  return { message: (await findMessage(tx, messageId))!, place }
}

/** As `lockAsMember`, for participants who may post. @throws ChatError `not_found`, `forbidden` */
async function lockToPost(ctx: Context, tx: Tx, actor: Actor, where: Where): Promise<LockedForChange> {
  const entered = await lockAsMember(ctx, tx, actor, where)
  if (!canPost(entered.role)) throw new ChatError('forbidden')
  return entered
}
