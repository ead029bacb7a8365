import type { ConversationSummary } from '../../api/conversations.ts'
import type { ConversationStreamEvent } from '../types.ts'
import { isBy } from './threads.ts'

/** What says which messages of a conversation count. */
export type CountedConversation = Pick<ConversationSummary, 'direct' | 'layout'>

/** The unread messages of a conversation. */
export interface UnreadCount {
  unread: number
  /** The arrival of the newest message that is in the number, or is known not to count. */
  counted_to?: string | undefined
  conversation?: CountedConversation | undefined
  /** Set for a reader of an open conversation who does not participate: nothing is unread. */
  is_outside?: boolean
}

/** The data after an event, with the unread messages of its conversation. */
export function foldUnread<Data extends UnreadCount>(
  data: Data,
  { type, payload }: ConversationStreamEvent,
  conversation_id: string | undefined,
  user_id: string,
): Data | 'stale' {
  const { unread, counted_to = '', conversation } = data
  switch (type) {
    case 'message.new': {
      const { message } = payload
      const { created_at } = message
      if (data.is_outside || message.conversation_id !== conversation_id || created_at <= counted_to) return data
      // Whether a reply in a `stream` is in a thread that the user follows, `unread.update` says.
      const isCounted = !isBy(message, user_id) && (!message.parent_id || countsReplies(conversation))
      return { ...data, unread: unread + (isCounted ? 1 : 0), counted_to: created_at }
    }
    case 'unread.update':
    case 'conversation.unread': {
      const { as_of } = payload
      if (payload.conversation_id !== conversation_id) return data
      if (as_of < counted_to) return 'stale'
      const now = type === 'unread.update' ? payload.conversation_unread : payload.unread
      return { ...data, unread: now, counted_to: as_of }
    }
    case 'unread.cleared':
      if (counted_to <= payload.up_to) return { ...data, unread: 0 }
      return unread > 0 ? 'stale' : data
    case 'membership.changed':
      return data.is_outside && payload.conversation_id === conversation_id ? 'stale' : data
    case 'thread.followed':
      return payload.conversation_id === conversation_id && isUncounted(payload) ? 'stale' : data
    case 'conversation.updated': {
      const { id, layout } = payload.conversation
      return id === conversation_id && layout !== conversation?.layout ? 'stale' : data
    }
    default:
      return data
  }
}

/** Whether unread replies of a thread no longer count: the user follows a thread from now on, but ends it for all of it. */
export function isUncounted({ following, unread_replies }: { following: boolean; unread_replies: number }): boolean {
  return !following && unread_replies > 0
}

/** Whether all replies count, as the first messages of threads do. */
export function countsReplies(conversation?: CountedConversation): boolean {
  return !!conversation && (!!conversation.direct || conversation.layout !== 'stream')
}
