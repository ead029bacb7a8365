import type { ThreadSummary } from '../../api/threads.ts'
import type { ConversationStreamEvent } from '../types.ts'
import type { PlanBody } from './later.ts'
import { changed, type ListData, readList } from './list.ts'
import { isBy, subjectOf, toFront, withReply } from './threads.ts'
import type { StoreClient } from './types.ts'

/** The threads that are remembered as not followed: with more, all are forgotten. */
const MAX_OTHERS = 1_000

/** The threads that the user follows, and how many of all of them have an unread reply. */
export interface FollowedData extends ListData<ThreadSummary> {
  unread: number
  /** The threads with replies that the user does not follow: another reply there is no reason to read. */
  others: ReadonlySet<string>
}

/** How the followed threads are read and kept current. */
export function followedThreads(client: StoreClient, userId: () => string): PlanBody<FollowedData> {
  return {
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
    fold: (data, event) => fold(data, event, userId()),
    isUnsure,
  }
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

function fold(data: FollowedData, event: ConversationStreamEvent, user_id: string): FollowedData | 'stale' {
  const root_id = subjectOf(event, 'root_id')
  const thread = data.items.find((item) => item.root_id === root_id)
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
      return changed(data, thread, { title: event.payload.title || undefined })
    case 'unread.update': {
      const { unread, unread_replies } = event.payload
      if (thread?.unread_replies === unread_replies) return data
      if (thread) return changed(data, thread, { unread, unread_replies })
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
function isUnsure(event: ConversationStreamEvent, { items, unread, next_after }: FollowedData): boolean {
  const root_id = subjectOf(event, 'root_id')
  const thread = items.find((item) => item.root_id === root_id)
  if (event.type === 'unread.update') return !!thread && thread.unread_replies !== event.payload.unread_replies
  if (event.type !== 'message.new' || !thread?.unread_replies) return false
  return next_after !== undefined || items.filter(({ unread_replies }) => unread_replies).length !== unread
}
