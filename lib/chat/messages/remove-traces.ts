import type { Context } from '../../context.ts'
import type { NewEvent } from '../../live/log/appending.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { Queries } from '../../storage/database.ts'
import { rowsAtOnce } from '../../tasks/batches.ts'
import { lockAsSystem } from '../memberships/access.ts'

/** The number of messages that one transaction changes: it locks their conversation. */
const BATCH = 50

/** A message that names a user, and its conversation. */
export interface TracedMessage {
  message_id: string
  conversation_id: string
}

/**
 * Removes a user who is being erased from messages of others, and publishes events, so that readers of the streams have
 * what reads return. The user must have left all conversations, so that no message names them in the meantime.
 *
 * @param find up to `limit` of the messages
 * @param remove changes these messages, in a transaction that has locked their conversation; returns the events
 */
export async function removeTraces(
  ctx: Context,
  find: (db: Queries, limit: number) => Promise<TracedMessage[]>,
  remove: (tx: Tx, messageIds: string[]) => Promise<NewEvent[]>,
): Promise<void> {
  for (;;) {
    const traces = await find(ctx.db, rowsAtOnce(ctx.db, BATCH))
    const conversation_id = traces[0]?.conversation_id
    if (conversation_id === undefined) return
    const ids = traces.filter((trace) => trace.conversation_id === conversation_id).map((trace) => trace.message_id)
    await ctx.write(async (tx) => {
      const at = await lockAsSystem(ctx, tx, conversation_id)
      const events = await remove(tx, ids)
      // A deleted conversation has no readers.
      if (at !== undefined) for (const event of events) tx.emit(conversation_id, event)
    })
  }
}
