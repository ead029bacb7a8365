import type { Notification } from '../../api/notifications.ts'
import type { NamesOf } from '../../core/known-names.ts'
import { refuseUnknown } from '../options.ts'
import type { ConversationStreamEvent } from '../types.ts'
import { partOf, type StoreBase } from './base.ts'
import type { ChatStore, ReadableList } from './index.ts'
import { type ListData, listPlan } from './list.ts'
import { countDown, isNewer, type Marking, type NotificationMark, toMarking, withMarking } from './marks.ts'
import type { Loading } from './resource.ts'

/** Which notifications a list has; without a filter all. */
export interface NotificationsFilter {
  /** `true`: only those that are not read. */
  unread?: boolean | undefined
  kind?: Notification['kind'] | undefined
  /** Only those of this conversation. */
  conversation?: string | undefined
}

const FILTER: NamesOf<NotificationsFilter> = { unread: 0, kind: 0, conversation: 0 }

/** Notifications of the user, newest first. */
export interface NotificationsView extends Loading {
  notifications: readonly Notification[]
  /** Whether `loadMore` finds more. */
  has_more: boolean
}

/** The notifications of the user. The number of unread ones is `unreadNotifications` of the store. */
export interface StoreInbox {
  notifications(filter?: NotificationsFilter): ReadableList<NotificationsView>
  /**
   * Marks notifications as read, and shows them so at once; after a failure they are shown as before.
   *
   * @throws ChatError as `client.notifications.markRead`
   */
  markRead(mark: NotificationMark): Promise<void>
}

/** The inbox of a store: the same at each call. */
export function inboxOf(store: ChatStore): StoreInbox {
  return partOf(store, createInbox)
}

function createInbox({ client, feed, resources }: StoreBase): StoreInbox {
  const markings = new Set<Marking>()
  const lists = resources((key) => {
    const filter: NotificationsFilter = JSON.parse(key)
    return listPlan({
      name: 'notifications',
      keyOf: ({ id }: Notification) => id,
      isEphemeral: true,
      isOwn: true,
      read: (query) => client.notifications.list({ ...filter, ...query }),
      fold: (data, event) => fold(data, event, filter, feed.userId()),
      more(items) {
        const notifications = [...markings].reduce<readonly Notification[]>(withMarking, items)
        return { notifications: filter.unread ? notifications.filter(isUnread) : notifications }
      },
    })
  })

  function change(by?: (data: Data) => Data): void {
    for (const list of lists.all()) list.update(by)
  }

  return {
    notifications(filter = {}) {
      refuseUnknown('notifications', filter, FILTER)
      const { unread, kind, conversation } = filter
      return lists.get(JSON.stringify({ unread: unread || undefined, kind, conversation }))
    },
    async markRead(mark) {
      const user_id = feed.userId()
      const watched = lists.all().filter((list) => list.isWatched())
      const shown = watched.flatMap((list) => list.getSnapshot().notifications)
      const marking = toMarking(mark, shown)
      // What an older list shows as unread may be read or gone: then no event follows that would put the number right.
      const isKnown = watched.every((list) => list.isCurrent())
      const undo = isKnown ? countDown(feed.inbox, marking, mark, shown) : () => {}
      markings.add(marking)
      change()
      try {
        await client.notifications.markRead(mark)
        // The event comes before or after: then they are read again, with the time of the service.
        if (feed.userId() === user_id) change((data) => ({ ...data, items: withMarking(data.items, marking) }))
      } catch (error) {
        undo()
        throw error
      } finally {
        markings.delete(marking)
        change()
      }
    },
  }
}

type Data = ListData<Notification>

const isUnread = ({ read_at }: Notification) => read_at === undefined

function fold(
  data: Data,
  event: ConversationStreamEvent,
  filter: NotificationsFilter,
  user_id: string,
): Data | 'stale' {
  switch (event.type) {
    case 'notification.new': {
      const { notification } = event.payload
      const { kind = notification.kind, conversation = notification.conversation_id } = filter
      const isWanted = kind === notification.kind && conversation === notification.conversation_id
      return isWanted ? withNotification(data, notification) : data
    }
    case 'message.edited':
    case 'message.deleted': {
      const { id, root_id, conversation_id } = event.payload.message
      // Several messages of a thread, or of a direct conversation, may have one notification.
      const isKnown = data.items.some(
        ({ message_id, count, kind, ...place }) =>
          message_id === id ||
          (count && (kind === 'direct' ? place.conversation_id === conversation_id : place.root_id === root_id)),
      )
      return isKnown ? 'stale' : data
    }
    case 'membership.changed':
      return event.payload.user_id === user_id ? 'stale' : data
    // What they change, or when, is not in them.
    case 'notification.read':
    case 'notifications.count':
    case 'unread.cleared':
    case 'message.restored':
      return 'stale'
    default:
      return data
  }
}

/**
 * The list with a notification in its place, if that has been read; it may have been further down before. Of a direct
 * conversation, there is one.
 */
function withNotification(data: Data, notification: Notification): Data {
  const isSame = ({ id, kind, read_at, conversation_id }: Notification) =>
    id === notification.id ||
    (kind === 'direct' && notification.kind === kind && !read_at && conversation_id === notification.conversation_id)
  const others = data.items.filter((other) => !isSame(other))
  const at = others.findIndex((other) => isNewer(notification, other))
  if (at < 0 && data.next_after !== undefined) return { ...data, items: others }
  return { ...data, items: others.toSpliced(at < 0 ? others.length : at, 0, notification) }
}
