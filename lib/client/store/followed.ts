import type { ThreadSummary } from '../../api/threads.ts'
import type { ConversationStreamEvent } from '../types.ts'
import { partOf, type StoreBase } from './base.ts'
import type { ChatStore, ReadableList } from './index.ts'
import { type ListData, readList } from './list.ts'
import type { Loading, Plan } from './resource.ts'
import { isBy, subjectOf, toFront, withReply } from './threads.ts'

/** The threads with a reply that the user follows, over all conversations, latest activity first. */
export interface FollowedThreadsView extends Loading {
  threads: readonly ThreadSummary[]
  /** How many of all of them have an unread reply that arrived since the user follows them. */
  unread: number
  /** Whether `loadMore` finds more. */
  has_more: boolean
}

/** The threads that the user follows: the same list at each call. */
export function followedThreadsOf(store: ChatStore): ReadableList<FollowedThreadsView> {
  return partOf(store, createFollowed)
}

/** The threads that are remembered as not followed: with more, all are forgotten. */
const MAX_OTHERS = 1_000

interface Data extends ListData<ThreadSummary> {
  unread: number
  /** The threads with replies that the user does not follow: another reply there is no reason to read. */
  others: ReadonlySet<string>
}

function createFollowed({ client, feed, resources }: StoreBase): ReadableList<FollowedThreadsView> {
  const plan: Plan<Data, FollowedThreadsView> = {
    initial: { items: [], unread: 0, others: new Set() },
    isEphemeral: true,
    async read(current, isMore, from, causes) {
      let { unread } = current
      const list = await readList(current, isMore, from, {
        name: 'threads',
        keyOf: ({ root_id }) => root_id,
        async read(query) {
          const page = await client.threads.listFollowed(query)
          if (query.after === undefined) unread = page.unread
          return page
        },
      })
      return { ...list, unread, others: toOthers(list, current.others, causes) }
    },
    fold: (data, event) => fold(data, event, feed.userId()),
    isUnsure,
    view: ({ items, unread, next_after }, loading) => ({
      ...loading,
      threads: items,
      unread,
      has_more: next_after !== undefined,
    }),
  }
  return resources(() => plan).get('')
}

/** The threads of replies that are not in the list: it begins with the latest ones. */
function toOthers(
  { items }: ListData<ThreadSummary>,
  before: ReadonlySet<string>,
  causes?: readonly ConversationStreamEvent[],
): ReadonlySet<string> {
  const others = new Set(before.size > MAX_OTHERS ? [] : before)
  if (!causes) others.clear()
  for (const { type, payload } of causes ?? []) {
    if (type === 'message.new') others.add(payload.message.root_id)
    // It is listed with its first reply.
    if (type === 'thread.followed') others.delete(payload.root_id)
  }
  for (const { root_id } of items) others.delete(root_id)
  return others
}

function fold(data: Data, event: ConversationStreamEvent, user_id: string): Data | 'stale' {
  const root_id = subjectOf(event, 'root_id')
  const thread = data.items.find((item) => item.root_id === root_id)
  const change = (by: Partial<ThreadSummary>) => ({
    ...data,
    items: data.items.map((item) => (item === thread ? { ...item, ...by } : item)),
  })
  switch (event.type) {
    case 'message.new': {
      const { message, thread: state } = event.payload
      if (message.parent_id === undefined) return data
      if (!thread) return data.others.has(root_id!) ? data : 'stale'
      if (message.created_at <= thread.last_activity_at) return data
      const isFirst = !thread.unread_replies && !isBy(message, user_id)
      return {
        ...data,
        ...toFront(data, thread, withReply(thread, message, state, user_id)),
        unread: data.unread + (isFirst ? 1 : 0),
      }
    }
    case 'message.edited':
      return thread && event.payload.message.id === root_id ? 'stale' : data
    case 'message.deleted':
      return thread ? 'stale' : data
    case 'message.restored':
      return data.others.has(root_id!) ? data : 'stale'
    case 'thread.updated':
      return thread ? change({ title: event.payload.title || undefined }) : data
    case 'unread.update': {
      const { unread, unread_replies } = event.payload
      if (thread) return thread.unread_replies === unread_replies ? data : change({ unread, unread_replies })
      return unread_replies > 0 && !data.others.has(root_id!) ? 'stale' : data
    }
    case 'conversation.unread':
      return data.items.some((item) => item.conversation_id === event.payload.conversation_id) ? 'stale' : data
    case 'thread.followed':
    case 'unread.cleared':
      return 'stale'
    case 'membership.changed':
      return event.payload.user_id === user_id ? 'stale' : data
    default:
      return data
  }
}

/** Whether the number of threads with unread replies may be another one: which replies are older than the following is not known. */
function isUnsure(event: ConversationStreamEvent, { items, unread, next_after }: Data): boolean {
  const root_id = subjectOf(event, 'root_id')
  const thread = items.find((item) => item.root_id === root_id)
  if (event.type === 'unread.update') return !!thread && thread.unread_replies !== event.payload.unread_replies
  if (event.type !== 'message.new' || !thread?.unread_replies) return false
  return next_after !== undefined || items.filter(({ unread_replies }) => unread_replies).length !== unread
}
