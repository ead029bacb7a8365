import type { Tx } from '../../live/transaction/transaction.ts'

/** The number of ids in one event. */
const MAX_IDS = 200

/** Tells the streams of a user which notifications are read. */
export function publishRead(tx: Tx, userId: string, ids: readonly string[]): void {
  for (let start = 0; start < ids.length; start += MAX_IDS) {
    const payload = { ids: ids.slice(start, start + MAX_IDS), unread: 0 }
    tx.publishToInboxes([userId], { type: 'notification.read', payload })
  }
}
