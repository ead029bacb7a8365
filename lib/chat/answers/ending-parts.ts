import { partsOfRows, toStoredParts } from '../../core/stored-parts.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import { listRows } from '../../storage/answer-parts.ts'
import { endsOfOpenCalls } from './rules-parts.ts'
import { insertPart, setParts } from './store-parts.ts'

/** Stores the parts of an answer that ends, after the ends of calls that its provider has left open. */
export async function endParts(
  tx: Tx,
  { message_id, conversation_id }: { message_id: string; conversation_id: string },
): Promise<void> {
  const rows = await listRows(tx, message_id)
  const { length } = rows
  const { created_at } = rows.at(-1)!
  for (const [n, change] of endsOfOpenCalls(partsOfRows(rows)).entries()) {
    const idx = length + n
    const row = { content: '', part: JSON.stringify(change), created_at }
    await insertPart(tx, { message_id, idx, provider_data: null, ...row })
    rows.push(row)
    tx.emit(conversation_id, { type: 'message.part', message_id, detail: { idx } })
  }
  await setParts(tx, message_id, toStoredParts(partsOfRows(rows)))
}
