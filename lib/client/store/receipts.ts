import type { Message } from '../../api/messages.ts'
import type { ThreadReader } from '../../api/receipts.ts'
import type { ChatError } from '../../core/chat-error.ts'
import type { ConversationStreamEvent } from '../types.ts'
import { partOf, type StoreBase } from './base.ts'
import type { ChatStore, ReadableList, Reloadable } from './index.ts'
import { type ListData, type Page, type PageQuery, readList } from './list.ts'
import type { Loading, Plan } from './resource.ts'
import type { StoreClient } from './types.ts'

/** The read markers of users in a thread. */
export interface ThreadReadersView extends Loading {
  /** Latest first; at most 1,000. */
  readers: readonly ThreadReader[]
  /** Whether the user sees no receipts here: the service, the policy of the conversation, or the user has turned them off. */
  is_off: boolean
}

/** The users who have read a message, in the order of their ids. */
export interface ReadersView extends ThreadReadersView {
  /** Number of all of them. */
  count: number
  /** Whether `loadMore` finds more. */
  has_more: boolean
}

/** Which users have read what. */
export interface StoreReceipts {
  /** The users who have read a message. */
  readers(message_id: string): ReadableList<ReadersView>
  /** The read markers in a thread. */
  threadReaders(root_id: string): Reloadable<ThreadReadersView>
}

/** The read receipts of a store: the same at each call. */
export function receiptsOf(store: ChatStore): StoreReceipts {
  return partOf(store, createReceipts)
}

/** How many readers are read at once: as many as a conversation has whose markers are sent. */
const PAGE = 200

/** The user sees no receipts; those of a deleted message are seen by no user. */
const OFF = ['forbidden', 'not_found', 'message_deleted']

interface Data extends ListData<ThreadReader> {
  count: number
  is_off: boolean
  /** The message, or the first one of the thread, once it is read: events name its thread and its conversation. */
  message?: Message
}

/** What differs between the readers of a message and those of a thread. */
interface ReadersOptions<View> {
  message_id: string
  read(query: PageQuery): Promise<Page<'readers', ThreadReader> & { count?: number }>
  isReader(reader: ThreadReader, message: Message): boolean
  order(a: ThreadReader, b: ThreadReader): number
  view(data: Data): View
}

function createReceipts({ client, resources }: StoreBase): StoreReceipts {
  const { messages, receipts } = client
  return {
    readers: resources((message_id) =>
      readersPlan(messages, {
        message_id,
        read: (query) => receipts.ofMessage(message_id, { ...query, limit: PAGE }),
        isReader: ({ user_id, read_at }, { author_user_id, created_at }) =>
          user_id !== author_user_id && read_at >= created_at,
        order: byUser,
        view: ({ items, count, next_after, is_off }) => ({
          readers: items,
          count,
          has_more: next_after !== undefined,
          is_off,
        }),
      }),
    ).get,
    threadReaders: resources((message_id) =>
      readersPlan(messages, {
        message_id,
        read: () => receipts.ofThread(message_id),
        isReader: () => true,
        order: (a, b) => (a.read_at === b.read_at ? byUser(a, b) : a.read_at > b.read_at ? -1 : 1),
        view: ({ items, is_off }) => ({ readers: items, is_off }),
      }),
    ).get,
  }
}

const byUser = (a: ThreadReader, b: ThreadReader) => (a.user_id < b.user_id ? -1 : 1)

function readersPlan<View>(
  messages: StoreClient['messages'],
  options: ReadersOptions<View>,
): Plan<Data, Loading & View> {
  const initial: Data = { items: [], count: 0, is_off: false }
  return {
    initial,
    isEphemeral: true,
    async read(current, isMore, from) {
      let { message } = current
      try {
        message ??= await messages.get(options.message_id)
        return { message, ...(await readAll(current, isMore, from, options)) }
      } catch (error) {
        if (!OFF.includes((error as ChatError).code)) throw error
        return { ...initial, is_off: true, ...(message && { message }) }
      }
    },
    fold: (data, event) => fold(data, event, options),
    view: (data, loading) => ({ ...loading, ...options.view(data) }),
  }
}

async function readAll(current: Data, isMore: boolean, from: Data, { read }: ReadersOptions<unknown>): Promise<Data> {
  let count = 0
  const list = await readList(current, isMore, from, {
    name: 'readers',
    keyOf: ({ user_id }) => user_id,
    async read(query) {
      const page = await read(query)
      count = page.count ?? page.readers.length
      return page
    },
  })
  return { ...list, count, is_off: false }
}

function fold(data: Data, event: ConversationStreamEvent, options: ReadersOptions<unknown>): Data | 'stale' {
  const { message } = data
  const isHere = (conversation_id: string) => !message || message.conversation_id === conversation_id
  switch (event.type) {
    case 'read.update':
      // How far that reaches in each thread is not in it.
      if (event.payload.scope) return isHere(event.payload.conversation_id) && !data.is_off ? 'stale' : data
      return message?.root_id === event.payload.root_id && !data.is_off
        ? withMarker(data, event.payload, message, options)
        : data
    case 'membership.changed':
    case 'settings.update':
      return isHere(event.payload.conversation_id) ? 'stale' : data
    case 'conversation.updated':
      return isHere(event.payload.conversation.id) ? 'stale' : data
    case 'message.deleted':
    case 'message.restored':
      return event.payload.message.id === options.message_id ? 'stale' : data
    default:
      return data
  }
}

/** The readers after a marker has moved. */
function withMarker(
  data: Data,
  { user_id, read_at }: Pick<ThreadReader, 'user_id'> & Partial<ThreadReader>,
  message: Message,
  { isReader, order }: ReadersOptions<unknown>,
): Data | 'stale' {
  // It may be further down.
  if (data.next_after !== undefined) return 'stale'
  const reader = read_at !== undefined && isReader({ user_id, read_at }, message) ? { user_id, read_at } : undefined
  const known = data.items.find((item) => item.user_id === user_id)
  if (known?.read_at === reader?.read_at) return data
  const others = data.items.filter((item) => item !== known)
  const items = reader ? [...others, reader].sort(order) : others
  return { ...data, items, count: items.length }
}
