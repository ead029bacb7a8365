import type { ConversationSummary } from '../../api/conversations.ts'
import type { ConversationStreamEvent } from '../types.ts'
import { type ListData, listPlan } from './list.ts'
import type { Plan } from './resource.ts'
import { isBy, toFront } from './threads.ts'
import type { ConversationsView, StoreClient } from './types.ts'

/** The conversations: new messages are folded, what else changes a summary is read again. */
export function conversationsPlan(
  client: StoreClient,
  userId: () => string,
): Plan<ListData<ConversationSummary>, ConversationsView> {
  return listPlan({
    name: 'conversations',
    keyOf: ({ id }) => id,
    isEphemeral: true,
    read: (query) => client.conversations.list(query),
    fold: (data, event) => fold(data, event, userId()),
  })
}

type Conversations = ListData<ConversationSummary>

function fold(data: Conversations, event: ConversationStreamEvent, user_id: string): Conversations | 'stale' {
  const find = (id: string) => data.items.find((item) => item.id === id)
  switch (event.type) {
    case 'message.new': {
      const { message } = event.payload
      const at = message.created_at
      const isOwn = isBy(message, user_id)
      const known = find(message.conversation_id)
      // One that was not read yet, or that a post of the user brings back from the archive.
      if (!known) return data.next_after !== undefined || isOwn ? 'stale' : data
      // Instants of a conversation are unique and increase: this one is already in what was read.
      if (at <= known.last_activity_at) return data
      return toFront(data, known, { ...known, unread: known.unread + (isOwn ? 0 : 1), last_activity_at: at })
    }
    case 'membership.changed': {
      const { conversation_id, action } = event.payload
      if (event.payload.user_id !== user_id || action !== 'removed') return 'stale'
      return without(data, find(conversation_id))
    }
    case 'notification.new':
      return event.payload.notification.kind === 'direct' ? data : 'stale'
    case 'notification.read':
      return data.items.some(({ mentions }) => mentions) ? 'stale' : data
    // What they change, or when, is not in them.
    case 'notifications.count':
    case 'message.deleted':
    case 'message.restored':
    case 'message.done':
    case 'conversation.updated':
    case 'settings.update':
    case 'unread.update':
      return 'stale'
    default:
      return data
  }
}

function without(data: Conversations, known: ConversationSummary | undefined): Conversations {
  return known ? { ...data, items: data.items.filter((item) => item !== known) } : data
}
