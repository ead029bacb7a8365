import type { Context } from '../../context.ts'
import { ChatError } from '../../core/errors.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { Queries } from '../../storage/database.ts'
import { CANCELLED, endAnswer } from '../answers/ending.ts'
import type { NewPost, Posted } from './batch.ts'
import { addPosts } from './posting.ts'
import { listAtPaths, type MessageRow } from './store.ts'
import { listAnswering, pathsOfAnswers } from './store-asking.ts'

/**
 * Adds the answers of the assistants that a stored message asks, as its first replies: the message is their question. This
 * process gets their leases.
 *
 * @throws ChatError `thread_too_deep`; `rate_limited`, `unavailable` beyond the answers that may be in progress
 */
export async function addAnswers(
  ctx: Context,
  tx: Tx,
  { actor }: NewPost,
  { id: parent_id, asked, created_at }: MessageRow,
): Promise<Posted[]> {
  if (asked === null) return []
  ctx.answers.assertOpen()
  const posts = asked.split(',').map((assistant): NewPost => {
    return { actor, input: { content: '', role: 'assistant', assistant }, where: { parent_id } }
  })
  // The instants of a conversation are unique, and the one of the message is not stored yet.
  const { access, accounts, assistants, config, id } = ctx
  const after = { access, accounts, assistants, config, id, now: () => Math.max(ctx.now(), created_at + 1) }
  const answers = await addPosts(after, tx, posts, { isSystem: actor.system !== undefined })
  for (const answer of answers) {
    if (answer instanceof ChatError) throw answer
    await ctx.answers.claim(tx, (answer as Posted).row, actor.roles)
  }
  return answers as Posted[]
}

/** The answers that were stored with a message. */
export async function listAnswersTo(db: Queries, row: MessageRow): Promise<MessageRow[]> {
  const paths = pathsOfAnswers(row)
  return paths.length > 0 ? listAtPaths(db, row.root_id, paths) : []
}

/** Ends the answers in progress to a message that is deleted: it was their question. @returns their ids */
export async function cancelAnswersTo(tx: Tx, message: MessageRow): Promise<string[]> {
  if (message.role === 'assistant') return []
  const ids = await listAnswering(tx, message)
  for (const message_id of ids) await endAnswer(tx, { message_id, conversation_id: message.conversation_id }, CANCELLED)
  return ids
}
