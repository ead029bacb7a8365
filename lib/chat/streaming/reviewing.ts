import type { Context } from '../../context.ts'
import { isUnderWay } from '../../core/message-status.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { Micros } from '../../storage/sql.ts'
import type { TaskOutcome, TaskRun } from '../../tasks/runner.ts'
import type { TaskDetail } from '../../tasks/schema.ts'
import { REFUSED } from '../answers/ending.ts'
import { authorOf } from '../answers/reviews.ts'
import { replaceChunks } from '../answers/store.ts'
import { lockAsSystem } from '../memberships/access.ts'
import { deleteMessage } from '../messages/deleting.ts'
import { isRedacted } from '../messages/rules.ts'
import { findMessage, type MessageRow } from '../messages/store.ts'
import { markRefused } from '../messages/store-changes.ts'
import { replaceContent } from '../messages/store-revisions.ts'
import { reviewStreamed } from './completing.ts'

/** How often a text is left to a process with the hook where none runs, and for how long: about five minutes in all. */
const MAX_LEFT = 3
const LEFT_SECONDS = 100

/**
 * Asks the host about the text of a program that was cut off: its task is due. The host has seen only the beginning of it. What it
 * refuses is deleted, and a text that it changes replaces the former one everywhere, its revisions and chunks included.
 *
 * @throws ChatError `unavailable`, `validation_failed` as the hook fails: the task is repeated
 */
export async function reviewEnded(ctx: Context, { key: messageId, detail }: TaskRun): Promise<TaskOutcome> {
  const done = { done: true } as const
  const row = await findMessage(ctx.db, messageId)
  if (!row || isSettled(row)) return done
  if (!ctx.host.hooks.beforeMessage) return leave(ctx, detail)
  const actor = await authorOf(ctx.db, row.posted_by, detail)
  if (!actor) return done
  const reviewed = await reviewStreamed(ctx, actor, row, { failed: true })
  await ctx.write(async (tx) => {
    const at = await lockAsSystem(ctx, tx, row.conversation_id)
    const message = at === undefined ? undefined : await findMessage(tx, messageId)
    if (!message || isSettled(message)) return
    if ('refusal' in reviewed) await refuse(tx, message, { at: at!, reason: reviewed.refusal })
    else if (reviewed.content !== message.content)
      await replaceText(tx, message, { at: at!, content: reviewed.content })
  })
  return done
}

/** Whether the host has nothing to decide any more: a task that was killed at its end runs once more. */
function isSettled(message: MessageRow): boolean {
  return isUnderWay(message) || message.edited_at !== null || message.finish_reason === REFUSED || isRedacted(message)
}

/**
 * What a process does without the hook, and so without a say: it leaves the text to one that has it. Where none runs, it may
 * start again soon.
 */
async function leave({ cluster }: Context, { left = 0, ...detail }: TaskDetail): Promise<TaskOutcome> {
  const isNear = await cluster.hasReviewer().catch(() => false)
  if (!isNear && Number(left) >= MAX_LEFT) return { done: true }
  // Processes look for tasks at the same intervals: at an even pause the same one would always be the first.
  const delay_seconds = Math.ceil((isNear ? 4 : LEFT_SECONDS) * (0.5 + Math.random()))
  return { done: false, detail: { ...detail, left: isNear ? 0 : Number(left) + 1 }, delay_seconds }
}

/** Deletes a message. A deleted one is only kept from being restored by its author. */
async function refuse(tx: Tx, message: MessageRow, { at, reason }: { at: Micros; reason: string }): Promise<void> {
  await markRefused(tx, message.id, REFUSED)
  if (!message.deleted_at) await deleteMessage(tx, message, { at, by: message.posted_by, reason })
}

async function replaceText(
  tx: Tx,
  { id, conversation_id, deleted_at }: MessageRow,
  { at, content }: { at: Micros; content: string },
): Promise<void> {
  // The former text is no revision: the host wants no reader to get it.
  await replaceContent(tx, id, { content, reason: null, at, keep: 0 })
  await replaceChunks(tx, id, content, at)
  if (!deleted_at) tx.emit(conversation_id, { type: 'message.edited', message_id: id })
}
