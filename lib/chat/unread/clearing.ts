import type { Context } from '../../context.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { Reader } from '../../storage/unread-set.ts'
import { inBatches } from '../../tasks/batches.ts'
import type { TaskOutcome, TaskRun } from '../../tasks/runner.ts'
import { lockConversation } from '../memberships/store-locks.ts'
import { clearFollowed } from './store-follows.ts'

/** Clears, soon after the transaction, what a user who leaves has of following the threads of a conversation. */
export function clearFollowsLater(tx: Tx, { user_id, conversation_id }: Reader): void {
  tx.enqueue({ kind: 'follows.clear', key: `${user_id}.${conversation_id}`, detail: { user_id, conversation_id } })
}

/**
 * Clears what a user has of following threads from a participation that has ended. No read shows it: this is so that
 * lists and replies do not look at it. What the user follows since joining again stays.
 */
export async function clearFollows({ db }: Context, { detail, isOver }: TaskRun): Promise<TaskOutcome> {
  const reader = detail as unknown as Reader
  let after = Number(detail.after ?? 0)
  const isDone = await inBatches(isOver, async (size) => {
    const began = performance.now()
    const next = await db.write(async (tx) => {
      if ((await lockConversation(tx, reader.conversation_id)) === undefined) return undefined
      return clearFollowed(tx, reader, { after, limit: size })
    })
    after = next ?? after
    return next === undefined ? undefined : performance.now() - began
  })
  return isDone ? { done: true } : { done: false, detail: { ...detail, after } }
}
