import type { ReplyState } from '../../api/client-entities.ts'
import type { Message } from '../../api/messages.ts'
import type { Notification } from '../../api/notifications.ts'
import type { ThreadSummary } from '../../api/threads.ts'
import type { ConversationStreamEvent } from '../types.ts'
import { changed, type ListData, listPlan } from './list.ts'
import type { Plan } from './resource.ts'
import type { PendingPost, StoreClient, ThreadsView } from './types.ts'

/** The threads of a conversation: new messages are folded, what else changes a summary is read again. */
export function threadsPlan(
  client: StoreClient,
  conversation_id: string,
  userId: () => string,
  pendingOf: () => readonly PendingPost[],
  isDirect: () => boolean,
): Plan<ListData<ThreadSummary>, ThreadsView> {
  // Whether the user reads the conversation without participating.
  let isOutside = false
  return listPlan({
    name: 'threads',
    keyOf: ({ root_id }) => root_id,
    subjectOf: (event) => subjectOf(event, 'root_id'),
    isEphemeral: true,
    async read(query) {
      const page = await client.threads.list(conversation_id, query)
      const [first] = page.threads
      isOutside = first
        ? first.following === undefined
        : (await client.conversations.get(conversation_id)).joined === false
      return page
    },
    visits: () => (isOutside ? conversation_id : undefined),
    fold(data, event) {
      const next = foldThreads(data, event, conversation_id, userId(), isDirect)
      return isOutside && next !== 'stale' && next !== data ? { ...next, items: next.items.map(withoutOwn) } : next
    },
    more: () => ({ pending: pendingOf() }),
  })
}

/** A thread without what only a participant has of it. */
function withoutOwn({ unread: _, unread_replies, following, ...thread }: ThreadSummary): ThreadSummary {
  return thread
}

function foldThreads(
  data: ListData<ThreadSummary>,
  event: ConversationStreamEvent,
  conversation_id: string,
  user_id: string,
  isDirect: () => boolean,
): ListData<ThreadSummary> | 'stale' {
  if (event.type === 'unread.cleared') {
    const isLater = ({ last_activity_at }: ThreadSummary) => last_activity_at > event.payload.up_to
    if (data.items.some((item) => item.unread && isLater(item))) return 'stale'
    return {
      ...data,
      items: data.items.map((item) => (item.unread ? { ...item, unread: 0, unread_replies: 0 } : item)),
    }
  }
  if (subjectOf(event, 'conversation_id') !== conversation_id) return data
  const root_id = subjectOf(event, 'root_id')
  const thread = data.items.find((item) => item.root_id === root_id)
  switch (event.type) {
    case 'message.new': {
      const { message, thread: state } = event.payload
      if (!thread) return 'stale'
      // A summary does not say who has asked.
      if (message.created_at === thread.created_at && isBy(message, user_id) && thread.message_count === 1)
        return toFront(data, thread, { ...thread, unread: 0, following: true })
      if (message.created_at <= thread.last_activity_at) return data
      return toFront(data, thread, withReply(thread, message, state, user_id))
    }
    case 'thread.updated':
      return changed(data, thread, { title: event.payload.title || undefined })
    case 'thread.new': {
      const { summary } = event.payload
      if (thread) return data
      // A replay composes it as it is by now: how much of it is unread is not in it.
      if (summary.message_count !== 1) return 'stale'
      return toFront(data, undefined, {
        ...summary,
        // A user that it mentions gets `thread.followed`, too.
        following: summary.root_author === user_id || isDirect(),
        unread: summary.root_author === user_id ? 0 : 1,
        unread_replies: 0,
      })
    }
    case 'unread.update': {
      const { unread, unread_replies, as_of } = event.payload
      // What has arrived since is not in it.
      if (thread && as_of < thread.last_activity_at) return 'stale'
      return changed(data, thread, { unread, unread_replies })
    }
    case 'message.edited':
    case 'message.deleted':
    case 'message.restored':
    case 'conversation.unread':
    case 'thread.followed':
    case 'membership.changed':
      return 'stale'
    default:
      return data
  }
}

/** A thread after a reply. @param state what its event has of the thread */
export function withReply(
  thread: ThreadSummary,
  message: Message,
  state: ReplyState | undefined,
  user_id: string,
): ThreadSummary {
  const { unread = 0, unread_replies = 0, message_count } = thread
  const added = isBy(message, user_id) ? 0 : 1
  return {
    ...thread,
    unread: unread + added,
    unread_replies: unread_replies + added,
    message_count: message_count + 1,
    last_replier_ids: state?.last_replier_ids ?? thread.last_replier_ids,
    last_activity_at: message.created_at,
    last_reply_at: message.created_at,
  }
}

/** The conversation or the thread that an event is about, if it names one. */
export function subjectOf(
  { payload }: ConversationStreamEvent,
  key: 'conversation_id' | 'root_id',
): string | undefined {
  const { message, notification } = payload as { message?: Message; notification?: Notification }
  return (message ?? notification ?? (payload as Partial<Message>))[key]
}

/** Whether a message counts as the user's own: written, or requested. */
export function isBy({ author_user_id, requested_by }: Message, user_id: string): boolean {
  return (author_user_id ?? requested_by) === user_id
}

/** The list with an item changed, which moves to its place by activity. */
export function toFront<Item extends { last_activity_at: string }>(
  data: ListData<Item>,
  known: Item | undefined,
  changed: Item,
): ListData<Item> {
  const others = data.items.filter((item) => item !== known)
  const at = others.findIndex((item) => item.last_activity_at < changed.last_activity_at)
  return { ...data, items: others.toSpliced(at < 0 ? others.length : at, 0, changed) }
}
