import type { InboxEvent } from '../../live/inboxes.ts'
import type { Queries } from '../../storage/database.ts'
import { countUnreadOf, listByIds } from './store.ts'
import { toNotification } from './store-making.ts'

/**
 * Adds to events about inboxes the excerpts and the numbers of unread notifications, as they are now. New notifications
 * that are hidden by now are left out.
 */
export async function completeInboxEvents(db: Queries, events: InboxEvent[]): Promise<InboxEvent[]> {
  const wanted = events.flatMap(({ user_id, event }) =>
    event.type === 'notification.new' ? { user_id, id: event.payload.notification.id } : [],
  )
  // The number is read last: it contains all of them.
  const rows = wanted.length > 0 ? await listByIds(db, wanted) : []
  const shown = new Map(rows.map(({ user_id, ...row }) => [`${user_id} ${row.id}`, toNotification(row)]))
  const counted = new Set(events.flatMap(({ user_id, event }) => (event.type === 'settings.update' ? [] : user_id)))
  const unreadOf = counted.size > 0 ? await countUnreadOf(db, counted) : new Map<string, number>()
  return events.flatMap((each): InboxEvent[] => {
    const { user_id, event } = each
    const unread = unreadOf.get(user_id) ?? 0
    if (event.type === 'notification.new') {
      const notification = shown.get(`${user_id} ${event.payload.notification.id}`)
      return notification ? [{ ...each, event: { type: event.type, payload: { notification, unread } } }] : []
    }
    if (event.type === 'notification.read')
      return [{ ...each, event: { type: event.type, payload: { ...event.payload, unread } } }]
    return event.type === 'notifications.count'
      ? [{ ...each, event: { type: event.type, payload: { unread } } }]
      : [each]
  })
}
