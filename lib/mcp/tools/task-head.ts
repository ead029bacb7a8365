import type { Message } from '../../chat/messages/schema.ts'
import type { Context } from '../../context.ts'
import { isUnderWay } from '../../core/message-status.ts'
import { toInstant } from '../../core/time.ts'

/** How long a client should wait before it reads a task again. */
const POLL_MS = 1_000

/** What every task has. Nothing is stored of it: the answer is there as long as it can be read. */
export function taskHead({ now }: Pick<Context, 'now'>, { id, created_at, edited_at, status }: Message) {
  return {
    taskId: id,
    createdAt: created_at,
    lastUpdatedAt: isUnderWay({ status }) ? toInstant(now()) : (edited_at ?? created_at),
    ttlMs: null,
    pollIntervalMs: POLL_MS,
  }
}
