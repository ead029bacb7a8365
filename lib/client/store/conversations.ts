import type { ConversationSettings, ConversationSummary } from '../../api/conversations.ts'
import type { Message } from '../../api/messages.ts'
import type { ConversationStreamEvent } from '../types.ts'
import { type ListData, listPlan } from './list.ts'
import type { Plan } from './resource.ts'
import { isBy, subjectOf, toFront } from './threads.ts'
import type { ConversationSettingsView, ConversationsView, StoreClient } from './types.ts'

/**
 * The conversations: new messages, and what the user sets, are folded; what else changes a summary is read again.
 *
 * @param isArchived whether it is the list of archived ones
 */
export function conversationsPlan(
  client: StoreClient,
  userId: () => string,
  isArchived: boolean,
): Plan<ListData<ConversationSummary>, ConversationsView> {
  return listPlan({
    name: 'conversations',
    keyOf: ({ id }) => id,
    subjectOf: (event) => subjectOf(event, 'conversation_id'),
    isEphemeral: true,
    read: (query) => client.conversations.list({ ...query, archived: `${isArchived}` }),
    fold: (data, event) => fold(data, event, userId(), isArchived),
    isUnsure,
  })
}

/** What the user sets, and what a post or a notification changes at the same moment, may arrive in another order. */
const isUnsure = ({ type }: ConversationStreamEvent) => type === 'settings.update'

type Conversations = ListData<ConversationSummary>

function fold(
  data: Conversations,
  event: ConversationStreamEvent,
  user_id: string,
  isArchived: boolean,
): Conversations | 'stale' {
  const find = (id: string) => data.items.find((item) => item.id === id)
  switch (event.type) {
    case 'message.new': {
      const { message } = event.payload
      const at = message.created_at
      const summary = find(message.conversation_id)
      // One that is in the other list, or was not read yet.
      if (!summary) return data.next_after === undefined ? data : 'stale'
      // Instants of a conversation are unique and increase: this one is already in what was read.
      if (at <= summary.last_activity_at) return data
      return toFront(data, summary, { ...withArrival(summary, message, user_id), last_activity_at: at })
    }
    case 'settings.update': {
      const { conversation_id, settings } = event.payload
      const summary = find(conversation_id)
      if (settings.archived !== isArchived) return without(data, summary)
      if (!summary) return 'stale'
      const { level, muted_until } = settings
      return { ...data, items: data.items.map((item) => (item === summary ? { ...item, level, muted_until } : item)) }
    }
    case 'membership.changed': {
      const { conversation_id, action } = event.payload
      if (event.payload.user_id !== user_id || action !== 'removed') return 'stale'
      return without(data, find(conversation_id))
    }
    case 'notification.read':
      return data.items.some(({ mentions }) => mentions) ? 'stale' : data
    // What they change, or when, is not in them.
    case 'notifications.count':
    case 'conversation.updated':
      return 'stale'
    // What they change is not shown of one that is in the other list, or was not read yet.
    case 'notification.new':
    case 'message.deleted':
    case 'message.restored':
    case 'message.done':
    case 'unread.update':
    case 'conversation.unread':
      if (event.type === 'notification.new' && event.payload.notification.kind === 'direct') return data
      return find(subjectOf(event, 'conversation_id')!) ? 'stale' : data
    default:
      return data
  }
}

/** The numbers with a message that arrives. Whether a reply is in a thread that the user follows, `unread.update` says. */
function withArrival(summary: ConversationSummary, message: Message, user_id: string): ConversationSummary {
  if (isBy(message, user_id)) return summary
  const { unread, unread_replies, direct, layout } = summary
  const isReply = message.parent_id !== undefined
  if (direct && isReply) return { ...summary, unread: unread + 1, unread_replies: unread_replies + 1 }
  return isReply && layout === 'stream' ? summary : { ...summary, unread: unread + 1 }
}

function without(data: Conversations, summary: ConversationSummary | undefined): Conversations {
  return summary ? { ...data, items: data.items.filter((item) => item !== summary) } : data
}

/** The user's own settings for a conversation. */
export function settingsPlan(
  client: StoreClient,
  conversation_id: string,
): Plan<{ settings?: ConversationSettings }, ConversationSettingsView> {
  return {
    initial: {},
    isEphemeral: true,
    read: async () => ({ settings: await client.conversations.settings(conversation_id) }),
    fold(data, event) {
      if (event.type !== 'settings.update' && event.type !== 'membership.changed') return data
      if (event.payload.conversation_id !== conversation_id) return data
      return event.type === 'settings.update' ? { settings: event.payload.settings } : 'stale'
    },
    isUnsure,
    view: (data, loading) => ({ ...loading, ...data }),
  }
}
