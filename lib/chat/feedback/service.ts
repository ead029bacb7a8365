import type { Context } from '../../context.ts'
import { assertMayWrite, toRefused } from '../../core/access.ts'
import { type Actor, assertAdmin, assertUser } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { fit } from '../../core/pages.ts'
import { useCase } from '../../core/use-case.ts'
import { findAnswer } from '../answers/store.ts'
import { requireReader } from '../memberships/access.ts'
import { findConversation } from '../memberships/store-conversations.ts'
import { FeedbackInput, type FeedbackPage, FeedbackQuery } from './schema.ts'
import { deleteFeedback, listFeedback, putFeedback } from './store.ts'

/**
 * Stores what the actor thinks of an answer, instead of what the actor thought before. Only administrators read it.
 *
 * @throws ChatError `not_found`; `forbidden` for a `read_only` user; `message_deleted`; `conflict` for a message that is no answer of
 *   the assistant, and in a frozen conversation
 */
export const set = useCase({
  takes: ['actor', 'message_id'],
  input: FeedbackInput,
  errors: ['not_found', 'forbidden', 'message_deleted', 'conflict'],
  run: async (ctx, actor, messageId, { rating, reason = null }): Promise<void> => {
    await assertRatable(ctx, actor, messageId)
    const row = { id: ctx.id(), message_id: messageId, user_id: actor.user_id, rating, reason, at: ctx.now() }
    await ctx.write((tx) => putFeedback(tx, row))
  },
})

/**
 * Takes back what the actor thinks of an answer. Without it, nothing changes.
 *
 * @throws ChatError as {@link set}
 */
export const remove = useCase({
  takes: ['actor', 'message_id'],
  errors: ['not_found', 'forbidden', 'message_deleted', 'conflict'],
  frees: 'half',
  run: async (ctx, actor, messageId): Promise<void> => {
    await assertRatable(ctx, actor, messageId)
    await ctx.write((tx) => deleteFeedback(tx, actor.user_id, messageId))
  },
})

async function assertRatable(ctx: Context, actor: Actor, messageId: string): Promise<void> {
  assertUser(actor)
  const answer = await findAnswer(ctx.db, messageId)
  await requireReader(ctx, ctx.db, actor, answer?.conversation_id)
  assertMayWrite(ctx.access, actor)
  if ((await findConversation(ctx.db, answer!.conversation_id))?.frozen_at) throw toRefused({ reason: 'frozen' })
  if (answer!.deleted_at) throw new ChatError('message_deleted')
  if (answer!.role !== 'assistant')
    throw new ChatError('conflict', { message: 'Only answers of the assistant are rated.' })
}

/**
 * What users think of answers, latest first.
 *
 * @throws ChatError `forbidden` unless the actor is an administrator
 */
export const list = useCase({
  takes: ['actor'],
  input: FeedbackQuery,
  errors: ['forbidden'],
  run: async (ctx, actor, { after, limit }): Promise<FeedbackPage> => {
    assertAdmin(actor)
    const rows = await listFeedback(ctx.db, { after, limit: limit + 1 })
    const page = fit(rows.slice(0, limit))
    const feedback = page.map(({ id: _, ...each }) => each)
    return { feedback, ...(rows.length > page.length && { next_after: page.at(-1)!.id }) }
  },
})
