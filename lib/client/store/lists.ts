import type { ConversationSummary } from '../../api/conversations.ts'
import type { Message } from '../../api/messages.ts'
import type { ThreadSummary } from '../../api/threads.ts'
import type { ConversationStreamEvent } from '../types.ts'
import type { Plan } from './resource.ts'
import type { ConversationsView, PendingPost, StoreClient, ThreadsView } from './types.ts'

/** How many items are read at once, and shown at first. */
const PAGE = 50

/** A list, latest activity first, with the cursor of what was not read. */
export interface ListData<Item> {
  items: readonly Item[]
  next_after?: string | undefined
}

/** The conversations: new messages and edits are folded, what else changes a summary is read again. */
export function conversationsPlan(
  client: StoreClient,
  userId: () => string,
): Plan<ListData<ConversationSummary>, ConversationsView> {
  return {
    initial: { items: [] },
    isEphemeral: true,
    read: (known, isMore) =>
      readList(
        known,
        isMore,
        ({ id }) => id,
        async (after) => {
          const { conversations, next_after } = await client.conversations.list({ limit: PAGE, ...after })
          return { items: conversations, next_after }
        },
      ),
    fold: (data, event) => foldConversations(data, event, userId()),
    view: ({ items, next_after }, loading) => ({
      ...loading,
      conversations: items,
      has_more: next_after !== undefined,
    }),
  }
}

/** The threads of a conversation: new messages are folded, what else changes a summary is read again. */
export function threadsPlan(
  client: StoreClient,
  conversation_id: string,
  userId: () => string,
  pendingOf: () => readonly PendingPost[],
): Plan<ListData<ThreadSummary>, ThreadsView> {
  return {
    initial: { items: [] },
    isEphemeral: true,
    read: (known, isMore) =>
      readList(
        known,
        isMore,
        ({ root_id }) => root_id,
        async (after) => {
          const { threads, next_after } = await client.threads.list(conversation_id, { limit: PAGE, ...after })
          return { items: threads, next_after }
        },
      ),
    fold: (data, event) => foldThreads(data, event, conversation_id, userId()),
    view: ({ items, next_after }, loading) => ({
      ...loading,
      threads: items,
      has_more: next_after !== undefined,
      pending: pendingOf(),
    }),
  }
}

/** As many items as before, or more. One that moved to the front meanwhile is in two pages, and the first is newer. */
export async function readList<Item>(
  known: ListData<Item>,
  isMore: boolean,
  keyOf: (item: Item) => string,
  readPage: (cursor: { after?: string }) => Promise<ListData<Item>>,
): Promise<ListData<Item>> {
  const wanted = known.items.length + (isMore ? 1 : 0)
  const items = new Map<string, Item>()
  let next_after: string | undefined
  do {
    const page = await readPage(next_after === undefined ? {} : { after: next_after })
    for (const item of page.items) if (!items.has(keyOf(item))) items.set(keyOf(item), item)
    next_after = page.next_after
  } while (next_after !== undefined && items.size < wanted)
  return { items: [...items.values()], next_after }
}

function foldConversations(
  data: ListData<ConversationSummary>,
  event: ConversationStreamEvent,
  user_id: string,
): ListData<ConversationSummary> | 'stale' {
  switch (event.type) {
    case 'message.new': {
      const { message } = event.payload
      const at = message.created_at
      const known = data.items.find(({ id }) => id === message.conversation_id)
      // It may be a post of the user that brings a conversation back from the archive.
      if (!known) return 'stale'
      // Instants of a conversation are unique and increase: this one is already in what was read.
      if (at <= known.last_activity_at) return data
      const unread = known.unread + (isBy(message, user_id) ? 0 : 1)
      return toFront(data, known, { ...known, unread, last_activity_at: at })
    }
    case 'membership.changed': {
      const { conversation_id, action } = event.payload
      if (event.payload.user_id !== user_id || action !== 'removed') return 'stale'
      return { ...data, items: data.items.filter(({ id }) => id !== conversation_id) }
    }
    // What they change, or when, is not in them.
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

function foldThreads(
  data: ListData<ThreadSummary>,
  event: ConversationStreamEvent,
  conversation_id: string,
  user_id: string,
): ListData<ThreadSummary> | 'stale' {
  switch (event.type) {
    case 'message.new': {
      const { message } = event.payload
      if (message.conversation_id !== conversation_id) return data
      const known = data.items.find(({ root_id }) => root_id === message.root_id)
      if (!known) return 'stale'
      if (message.created_at <= known.last_activity_at) return data
      const unread = (known.unread ?? 0) + (isBy(message, user_id) ? 0 : 1)
      const changed = { unread, message_count: known.message_count + 1, last_activity_at: message.created_at }
      return toFront(data, known, { ...known, ...changed })
    }
    case 'message.edited':
    case 'message.deleted':
    case 'message.restored':
      return event.payload.message.conversation_id === conversation_id ? 'stale' : data
    case 'thread.new':
    case 'unread.update':
    case 'membership.changed':
      return event.payload.conversation_id === conversation_id ? 'stale' : data
    default:
      return data
  }
}

/** Whether a message counts as the user's own: written, or asked for. */
function isBy({ author_user_id, requested_by }: Message, user_id: string): boolean {
  return (author_user_id ?? requested_by) === user_id
}

function toFront<Item extends { last_activity_at: string }>(
  data: ListData<Item>,
  known: Item,
  changed: Item,
): ListData<Item> {
  const others = data.items.filter((item) => item !== known)
  const at = others.findIndex((item) => item.last_activity_at < changed.last_activity_at)
  return { ...data, items: others.toSpliced(at < 0 ? others.length : at, 0, changed) }
}
