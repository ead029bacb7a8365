import { toInstant } from '../../core/time.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { Micros } from '../../storage/sql.ts'

/** Publishes that a message was pinned, or its pin removed, by a user. */
export function publishPin(
  tx: Tx,
  { id: message_id, root_id, conversation_id }: { id: string; root_id: string; conversation_id: string },
  { at, ...change }: { user_id: string; action: 'added' | 'removed'; at: Micros },
): void {
  const { user_id, action } = change
  const payload = { message_id, root_id, conversation_id, ...change, at: toInstant(at) }
  tx.emit(conversation_id, { type: 'pin.changed', message_id, user_id, detail: { action, root_id }, payload })
}
