import type { Tx } from '../../live/transaction.ts'

/** The number of ids in one event. */
const MOST_IDS = 200

/** The number of users of one event: what one node tells the others has a maximum size. */
const MOST_USERS = 500

/** Tells the streams of a user which notifications are read. */
export function publishRead(tx: Tx, userId: string, ids: readonly string[]): void {
  for (let start = 0; start < ids.length; start += MOST_IDS) {
    const payload = { ids: ids.slice(start, start + MOST_IDS), unread: 0 }
    tx.publishToInboxes([userId], { type: 'notification.read', payload })
  }
}

/** Tells the streams of users that the number of their unread notifications has changed. */
export function publishCounts(tx: Tx, userIds: readonly string[]): void {
  for (let start = 0; start < userIds.length; start += MOST_USERS)
    tx.publishToInboxes(userIds.slice(start, start + MOST_USERS), {
      type: 'notifications.count',
      payload: { unread: 0 },
    })
}
