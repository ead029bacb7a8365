import type { InboxEvent } from '../../live/hub/inboxes.ts'
import type { Queries } from '../../storage/database.ts'
import type { ConversationSettings } from '../conversations/schema-settings.ts'
import { listSettings, type SettingsContext, toSettings } from '../memberships/store-settings.ts'
import { countUnreadNotifications, listByIds } from './store.ts'
import { toNotification } from './store-making.ts'

/**
 * Adds to events for single users what is stored now: the excerpts, the numbers of unread notifications, and settings. New
 * notifications that are hidden by now, and settings of conversations that the user has left, are left out.
 */
export async function completeInboxEvents(
  db: Queries,
  events: InboxEvent[],
  context: SettingsContext,
): Promise<InboxEvent[]> {
  const settingsOf = await findSettingsOf(db, events, context)
  const keys = events.flatMap(({ user_id, event }) =>
    event.type === 'notification.new' ? { user_id, id: event.payload.notification.id } : [],
  )
  // The number is read last: it contains all of them.
  const rows = keys.length > 0 ? await listByIds(db, keys) : []
  const shown = new Map(rows.map((row) => [`${row.user_id} ${row.id}`, row]))
  const counted = new Set(events.flatMap(({ user_id, event }) => (UNCOUNTED.has(event.type) ? [] : user_id)))
  const unreadOf = counted.size > 0 ? await countUnreadNotifications(db, counted) : new Map<string, number>()

  function complete({ user_id, event }: InboxEvent): InboxEvent['event'] | undefined {
    const unread = unreadOf.get(user_id) ?? 0
    if (event.type === 'notification.new') {
      const row = shown.get(`${user_id} ${event.payload.notification.id}`)
      if (!row) return
      const { unread_mentions: mentions } = row
      return {
        type: event.type,
        payload: { notification: toNotification(row), unread, ...(mentions !== null && { mentions }) },
      }
    }
    if (event.type === 'notification.read') return { type: event.type, payload: { ...event.payload, unread } }
    if (event.type === 'unread.cleared') return { type: event.type, payload: { ...event.payload, unread } }
    if (event.type === 'notifications.count') return { type: event.type, payload: { unread } }
    if (event.type !== 'settings.update') return event
    const { conversation_id } = event.payload
    const settings = settingsOf.get(`${user_id} ${conversation_id}`)
    return settings && { type: event.type, payload: { conversation_id, settings } }
  }

  return events.flatMap((inboxEvent) => {
    const event = complete(inboxEvent)
    return event ? [{ ...inboxEvent, event }] : []
  })
}

/** Events that have no number of notifications. */
const UNCOUNTED: ReadonlySet<string> = new Set(['settings.update', 'rights.changed'])

/** The settings that the events are about, by user and conversation. */
async function findSettingsOf(
  db: Queries,
  events: InboxEvent[],
  context: SettingsContext,
): Promise<Map<string, ConversationSettings>> {
  const places = events.flatMap(({ user_id, event }) =>
    event.type === 'settings.update' ? { user_id, conversation_id: event.payload.conversation_id } : [],
  )
  const rows = places.length > 0 ? await listSettings(db, places) : []
  return new Map(rows.map((row) => [`${row.user_id} ${row.conversation_id}`, toSettings(row, context)]))
}
