import type { Notification } from '../../api/notifications.ts'
import type { Cell } from './cell.ts'
import type { InboxCount } from './feed.ts'

/** Notifications to mark as read: some by their ids, or one and all older ones. */
export type NotificationMark = { ids: string[]; up_to?: undefined } | { ids?: undefined; up_to: string }

/** Notifications that are shown as read, although the service may not have stored it yet. */
export interface Marking {
  ids: ReadonlySet<string>
  /** By the local clock, until they are read again. */
  read_at: string
}

/** The unread notifications that a mark reads, of those that the page shows. */
export function toMarking({ ids, up_to }: NotificationMark, shown: readonly Notification[]): Marking {
  const last = shown.find(({ id }) => id === up_to)
  const isMeant = (notification: Notification) =>
    ids?.includes(notification.id) ?? (last !== undefined && !isNewer(notification, last))
  const meant = shown.filter((each) => each.read_at === undefined && isMeant(each))
  return { ids: new Set(meant.map(({ id }) => id)), read_at: new Date().toISOString() }
}

/** The notifications with those marked that are not read. */
export function withMarking(items: readonly Notification[], { ids, read_at }: Marking): Notification[] {
  return items.map((item) => (ids.has(item.id) ? { read_at, ...item } : item))
}

/** Whether a notification is above another one in the inbox. */
export function isNewer(a: Notification, b: Notification): boolean {
  return a.at === b.at ? a.id > b.id : a.at > b.at
}

/**
 * Lowers the number of unread notifications by those that a mark reads. Of older ones that the page does not show, it
 * reads all: then as many are left as are newer.
 *
 * @returns a function that undoes it, unless the service has sent a number since
 */
export function countDown(
  inbox: Cell<InboxCount>,
  { ids }: Marking,
  mark: NotificationMark,
  shown: readonly Notification[],
): () => void {
  const { unread, sent = inbox.getSnapshot() } = inbox.getSnapshot()
  const left = new Set(shown.filter(({ id, read_at }) => read_at === undefined && !ids.has(id)).map(({ id }) => id))
  const isLastShown = shown.some(({ id }) => id === mark.up_to)
  const next = isLastShown ? Math.min(unread, left.size) : Math.max(0, unread - ids.size)
  inbox.set({ unread: next, sent })
  return () => {
    const now = inbox.getSnapshot()
    if (now.sent === sent) inbox.set({ unread: now.unread + unread - next, sent })
  }
}
