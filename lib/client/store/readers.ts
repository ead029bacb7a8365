import type { Message } from '../../api/messages.ts'
import type { ThreadReader } from '../../api/receipts.ts'
import type { ChatError } from '../../core/chat-error.ts'
import type { ConversationStreamEvent } from '../types.ts'
import type { PlanBody } from './later.ts'
import { type ListData, type Page, type PageQuery, readList } from './list.ts'
import type { StoreClient } from './types.ts'

/** How many readers are read at once: as many as a conversation has whose markers are sent. */
const PAGE = 200

/** The user sees no receipts; those of a deleted message are seen by no user. */
const OFF = ['forbidden', 'not_found', 'message_deleted']

/** The readers of a message, or of a thread. */
export interface ReadersData extends ListData<ThreadReader> {
  count: number
  is_off: boolean
  /** The message, or the first one of the thread, once it is read: events name its thread and its conversation. */
  message?: Message
}

/** What differs between the readers of a message and those of a thread. */
interface ReadersOptions {
  message_id: string
  read(query: PageQuery): Promise<Page<'readers', ThreadReader> & { count?: number }>
  isReader(reader: ThreadReader, message: Message): boolean
  order(a: ThreadReader, b: ThreadReader): number
}

/** The users who have read a message. */
export function readersOfMessage({ messages, receipts }: StoreClient, message_id: string): PlanBody<ReadersData> {
  return bodyOf(messages, {
    message_id,
    read: (query) => receipts.ofMessage(message_id, { ...query, limit: PAGE }),
    isReader: ({ user_id, read_at }, { author_user_id, created_at }) =>
      user_id !== author_user_id && read_at >= created_at,
    order: byUser,
  })
}

/** The users who have read in a thread. */
export function readersOfThread({ messages, receipts }: StoreClient, root_id: string): PlanBody<ReadersData> {
  return bodyOf(messages, {
    message_id: root_id,
    read: () => receipts.ofThread(root_id),
    isReader: () => true,
    order: (a, b) => (a.read_at === b.read_at ? byUser(a, b) : a.read_at > b.read_at ? -1 : 1),
  })
}

const byUser = (a: ThreadReader, b: ThreadReader) => (a.user_id < b.user_id ? -1 : 1)

function bodyOf(messages: StoreClient['messages'], options: ReadersOptions): PlanBody<ReadersData> {
  return {
    async read(current, isMore, from) {
      let { message } = current
      try {
        message ??= await messages.get(options.message_id)
        return { message, ...(await readAll(current, isMore, from, options)) }
      } catch (error) {
        if (!OFF.includes((error as ChatError).code)) throw error
        return { items: [], count: 0, is_off: true, ...(message && { message }) }
      }
    },
    fold: (data, event) => fold(data, event, options),
  }
}

async function readAll(
  current: ReadersData,
  isMore: boolean,
  from: ReadersData,
  { read }: ReadersOptions,
): Promise<ReadersData> {
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

function fold(data: ReadersData, event: ConversationStreamEvent, options: ReadersOptions): ReadersData | 'stale' {
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
  data: ReadersData,
  { user_id, read_at }: Pick<ThreadReader, 'user_id'> & Partial<ThreadReader>,
  message: Message,
  { isReader, order }: ReadersOptions,
): ReadersData | 'stale' {
  // It may be further down.
  if (data.next_after !== undefined) return 'stale'
  const reader = read_at !== undefined && isReader({ user_id, read_at }, message) ? { user_id, read_at } : undefined
  const known = data.items.find((item) => item.user_id === user_id)
  if (known?.read_at === reader?.read_at) return data
  const others = data.items.filter((item) => item !== known)
  const items = reader ? [...others, reader].sort(order) : others
  return { ...data, items, count: items.length }
}
