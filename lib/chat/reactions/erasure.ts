import type { Context } from '../../context.ts'
import { lockAsSystem } from '../conversations/access.ts'
import { composeReactionLists } from '../messages/store-reactions.ts'
import { deleteReactionsOf, listReactedBy } from './store.ts'

/** The number of messages whose reactions one transaction changes: it locks their conversation. */
const BATCH = 50

/**
 * Removes the reactions of a user who is being erased, and publishes an event for each message. The user must have left
 * all conversations, so that none is added meanwhile.
 */
export async function eraseReactions(ctx: Context, userId: string): Promise<void> {
  for (;;) {
    const found = await listReactedBy(ctx.db, userId, BATCH)
    const conversation_id = found[0]?.conversation_id
    if (conversation_id === undefined) return
    const ids = found.filter((each) => each.conversation_id === conversation_id).map((each) => each.message_id)
    await ctx.write(async (tx) => {
      const at = await lockAsSystem(ctx, tx, conversation_id)
      await deleteReactionsOf(tx, userId, ids)
      await composeReactionLists(tx, ids)
      // A deleted conversation has no readers.
      if (at === undefined) return
      for (const message_id of ids)
        tx.emit(conversation_id, { type: 'reactions.changed', message_id, detail: { action: 'removed' } })
    })
  }
}
