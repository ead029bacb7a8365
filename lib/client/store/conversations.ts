import type { ConversationSettings, ConversationSummary, LastMessage } from '../../api/conversations.ts'
import type { Message } from '../../api/messages.ts'
import { toExcerpt } from '../../core/excerpt.ts'
import type { ConversationStreamEvent } from '../types.ts'
import { changed, type ListData, listPlan } from './list.ts'
import type { Plan } from './resource.ts'
import { isBy, subjectOf, toFront } from './threads.ts'
import type { ConversationSettingsView, ConversationsView, Section, StoreClient } from './types.ts'
import { countsReplies, isUncounted } from './unread.ts'

/** The id of a list: of those that are not archived, of those that are, or of a section of the former. */
export type ConversationsId = '' | 'archived' | Section

/**
 * The conversations: new messages, and what the user sets, are folded; what else changes a summary is read again.
 *
 * @param reader.follows whether the user follows the thread of a message; `undefined` if that is not known
 * @param reader.summaryOf what another list has of a conversation
 */
export function conversationsPlan(
  client: StoreClient,
  userId: () => string,
  reader: Omit<Reader, 'user_id'>,
  id: ConversationsId,
): Plan<ListData<ConversationSummary>, ConversationsView> {
  const isArchived = id === 'archived'
  const section = id === '' || id === 'archived' ? undefined : id
  return listPlan({
    name: 'conversations',
    keyOf: ({ id }) => id,
    subjectOf: (event) => subjectOf(event, 'conversation_id'),
    isEphemeral: true,
    isOwn: true,
    read: (query) => client.conversations.list({ ...query, archived: `${isArchived}`, section }),
    fold: (data, event) => fold(data, event, { user_id: userId(), ...reader }, { isArchived, section }),
    isUnsure: (event, { items }) =>
      isUnsure(event) || (event.type === 'unread.cleared' && items.some((item) => isLater(item, event.payload))),
  })
}

/** What the user sets, and what a post or a notification changes at the same moment, may arrive in another order. */
const isUnsure = ({ type }: ConversationStreamEvent) => type === 'settings.update'

/** Whether the numbers of a conversation have messages that arrived later than everything that was read. */
const isLater = (
  { unread, unread_replies, mentions, last_activity_at }: ConversationSummary,
  { up_to }: { up_to: string },
) => last_activity_at > up_to && unread + unread_replies + (mentions ?? 0) > 0

type Conversations = ListData<ConversationSummary>

interface Reader {
  user_id: string
  follows: (message: Message) => boolean | undefined
  summaryOf: (id: string) => ConversationSummary | undefined
}

/** The section of a conversation in lists: a favourite is in no other one. */
export function sectionOf({ favourite, direct, layout }: ConversationSummary): Section {
  if (favourite) return 'favourites'
  if (direct) return 'direct'
  return layout === 'assistant' ? 'assistant' : 'rooms'
}

function fold(
  data: Conversations,
  event: ConversationStreamEvent,
  reader: Reader,
  { isArchived, section }: { isArchived: boolean; section: Section | undefined },
): Conversations | 'stale' {
  const isElsewhere = (summary: ConversationSummary) => section !== undefined && sectionOf(summary) !== section
  const find = (id: string | undefined) => data.items.find((item) => item.id === id)
  switch (event.type) {
    case 'message.new': {
      const { message } = event.payload
      const at = message.created_at
      const summary = find(message.conversation_id)
      if (!summary) {
        // One that is in another list, or was not read yet.
        const known = reader.summaryOf(message.conversation_id)
        return data.next_after === undefined || (known && isElsewhere(known)) ? data : 'stale'
      }
      // Instants of a conversation are unique and increase: this one is already in what was read.
      if (at <= summary.last_activity_at) return data
      const last = { last_activity_at: at, last_message: toLast(message) }
      return toFront(data, summary, { ...withArrival(summary, message, reader), ...last })
    }
    case 'message.edited': {
      const { message } = event.payload
      const summary = find(message.conversation_id)
      if (summary?.last_message?.id !== message.id) return data
      return changed(data, summary, { last_message: toLast(message) })
    }
    case 'settings.update': {
      const { conversation_id, settings } = event.payload
      const summary = find(conversation_id)
      if (settings.archived !== isArchived) return without(data, summary)
      if (!summary) return 'stale'
      const { level, muted_until, favourite } = settings
      const next = { ...summary, level, muted_until, favourite }
      return isElsewhere(next) ? without(data, summary) : changed(data, summary, next)
    }
    case 'membership.changed': {
      const { conversation_id, action } = event.payload
      if (event.payload.user_id !== reader.user_id || action !== 'removed') return 'stale'
      return without(data, find(conversation_id))
    }
    case 'notification.new': {
      const { notification, mentions } = event.payload
      const summary = find(notification.conversation_id)
      // An older version of the service does not send it.
      if (summary && mentions === undefined) return 'stale'
      return changed(data, summary, { mentions })
    }
    case 'notification.read':
      return data.items.some(({ mentions }) => mentions) ? 'stale' : data
    case 'unread.update': {
      const {
        conversation_id,
        conversation_unread: unread,
        conversation_unread_replies: unread_replies,
        as_of,
      } = event.payload
      const summary = find(conversation_id)
      // An older version of the service does not send the second number.
      if (summary && (unread_replies === undefined || as_of !== summary.last_activity_at)) return 'stale'
      return changed(data, summary, { unread, unread_replies })
    }
    case 'conversation.unread': {
      const { conversation_id, unread, unread_replies, as_of } = event.payload
      const summary = find(conversation_id)
      if (summary && as_of !== summary.last_activity_at) return 'stale'
      return changed(data, summary, { unread, unread_replies })
    }
    case 'unread.cleared': {
      const { up_to } = event.payload
      const read = { unread: 0, unread_replies: 0, mentions: 0 }
      return { ...data, items: data.items.map((item) => (item.last_activity_at > up_to ? item : { ...item, ...read })) }
    }
    case 'thread.followed':
      return isUncounted(event.payload) && find(event.payload.conversation_id) ? 'stale' : data
    case 'user.updated': {
      const { id: user_id, username, display_name, avatar_url } = event.payload.user
      const direct = data.items.find((item) => item.with?.user_id === user_id)
      return changed(data, direct, { with: { user_id, username, display_name, avatar_url } })
    }
    // What they change, or when, is not in them.
    case 'notifications.count':
    case 'conversation.updated':
    case 'rights.changed':
      return 'stale'
    // What they change is not shown of one that is in the other list, or was not read yet.
    case 'message.deleted':
    case 'message.restored':
    case 'message.done':
      return find(subjectOf(event, 'conversation_id')) ? 'stale' : data
    default:
      return data
  }
}

/** The numbers with a message that arrives. Those of a reply in a `stream` are in `unread.update`. */
function withArrival(
  summary: ConversationSummary,
  message: Message,
  { user_id, follows }: Reader,
): ConversationSummary {
  const isReply = message.parent_id !== undefined
  if (isBy(message, user_id) || (isReply && !countsReplies(summary))) return summary
  const added = isReply && (summary.direct || follows(message)) ? 1 : 0
  return { ...summary, unread: summary.unread + 1, unread_replies: summary.unread_replies + added }
}

const toLast = (message: Message): LastMessage => {
  const { id, author_user_id, author_kind, role, content, prompt, attachments, created_at: at } = message
  const excerpt = toExcerpt(content || prompt, attachments)
  return { id, author_user_id, ...(author_kind && { author_kind }), role, excerpt, at }
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
