import type { Context } from '../../context.ts'
import { removeTraces } from '../messages/remove-traces.ts'
import { composeReactionLists } from '../messages/store-reactions.ts'
import { deleteReactionsOf, listReactedBy } from './store.ts'

/** Removes the reactions of a user who is being erased, as {@link removeTraces}. */
export function eraseReactions(ctx: Context, userId: string): Promise<void> {
  return removeTraces(
    ctx,
    (db, limit) => listReactedBy(db, userId, limit),
    async (tx, ids) => {
      await deleteReactionsOf(tx, userId, ids)
      await composeReactionLists(tx, ids)
      return ids.map((message_id) => ({ type: 'reactions.changed', message_id, detail: { action: 'removed' } }))
    },
  )
}
