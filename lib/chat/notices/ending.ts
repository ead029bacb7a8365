import type { Context } from '../../context.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import { inPages } from '../../tasks/batches.ts'
import { deleteNoticesBy, type EndedNotice } from './store.ts'

/** The number of notices of an erased author that are deleted at a time. */
const BATCH = 200

/** Tells the readers of notices that these are deleted. */
export function announceEnded(tx: Tx, ended: readonly EndedNotice[]): void {
  for (const { id: notice_id, conversation_id, user_id } of ended) {
    const event = { type: 'notice.removed' as const, payload: { notice_id, conversation_id } }
    tx.emitPrivate(user_id, conversation_id, event, { notice_id })
  }
}

/** Deletes the notices of an author who is being erased. */
export async function eraseNotices(ctx: Context, authorId: string): Promise<void> {
  await inPages(ctx.db, BATCH, (limit) =>
    ctx.write(async (tx) => {
      const ended = await deleteNoticesBy(tx, authorId, limit)
      announceEnded(tx, ended)
      return ended.length
    }),
  )
}
