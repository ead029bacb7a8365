import type { Tx } from '../../live/transaction/transaction.ts'
import type { Micros } from '../../storage/sql.ts'
import { reopenScope } from './scopes.ts'
import { countBy } from './store-changes.ts'
import type { NotifiedReader } from './store-reading.ts'
import { type PutBack, reopenOfMessages } from './store-reopening.ts'

/**
 * Marks as unread by `move`, in a transaction that has locked the conversation, and gives the reader the notifications back of
 * what is put back, at their old places. The inboxes of the reader are told their number.
 *
 * @returns false if nothing has changed
 */
export async function reopen(
  tx: Tx,
  reader: NotifiedReader & { joined_at: Micros },
  { root_id, from }: PutBack,
  move: () => Promise<boolean>,
): Promise<boolean> {
  const { user_id, conversation_id, joined_at } = reader
  const back = { from: Math.max(from, joined_at + 1), ...(root_id && { root_id }) }
  const rows = await reopenOfMessages(tx, reader, back)
  if (!(await move())) return false
  const shown = rows.filter(({ hidden }) => hidden === 0)
  await countBy(tx, conversation_id, shown, 1)
  if ((await reopenScope(tx, reader, back)) || shown.length > 0) tx.publishCounts([user_id])
  return true
}
