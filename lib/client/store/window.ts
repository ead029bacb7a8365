import type { Message, TimelineMessage } from '../../api/client-entities.ts'
import { isTransient } from '../backoff.ts'
import type { ConversationStreamEvent } from '../types.ts'
import { withText } from './answers.ts'
import { foldMessages, type MessageList, type MessagesData, placeOf, withoutChunks } from './fold-messages.ts'
import { toMessage } from './pending.ts'
import { changedMessage, withQuotesOf } from './quotes.ts'
import type { Plan } from './resource.ts'
import { isBy } from './threads.ts'
import type { MessagesView, PendingPost, StoreClient, TimelineStoreMessage } from './types.ts'

/** The messages that a window keeps: with more, those at its other end are dropped. */
const MAX_WINDOW = 1_000

/** How many messages are read again at once. */
const REFRESHED = 200

/** Part of a list by arrival without a gap, with the places where it continues. */
export interface WindowData extends MessagesData {
  /** By arrival. */
  messages: readonly TimelineMessage[]
  /** The root, in the replies of a thread. */
  root?: TimelineMessage | undefined
  next_before?: string | undefined
  next_after?: string | undefined
  /** Messages that have arrived behind the window since it was read. */
  newer_count: number
  first_unread_id?: string | undefined
}

/** A page of the list, with the place where it was read. */
export type ReadWindowPage = (place: {
  before?: string | undefined
  after?: string | undefined
  around?: string | undefined
  limit?: number
}) => Promise<Pick<WindowData, 'messages' | 'root' | 'next_before' | 'next_after' | 'first_unread_id'>>

/** Where a window is read next. */
export type WindowMove = 'older' | 'newer' | { around: string } | 'newest'

interface WindowOptions {
  client: StoreClient
  read: ReadWindowPage
  has: MessageList<WindowData>['has']
  userId: () => string
  pending: () => readonly PendingPost[]
  /** The moves since the last reading, which it takes. */
  takeMoves: () => WindowMove[]
  /** Keeps moves for the next reading. */
  returnMoves: (moves: WindowMove[]) => void
}

const NOTHING: WindowData = { messages: [], newer_count: 0, chunks: new Map() }

/** A list by arrival around a place, which is read in both directions and follows the stream at its end. */
export function windowPlan(options: WindowOptions): Plan<WindowData, MessagesView> {
  const { userId, pending, has } = options
  return {
    initial: NOTHING,
    isEphemeral: true,
    read: (current, _, from) => readWindow(options, current, from !== NOTHING),
    fold: (data, event) => foldWindow(data, has, event, userId()),
    // Who has replied last is not in these events.
    isUnsure: (event, data) =>
      (event.type === 'message.deleted' || event.type === 'message.restored') &&
      event.payload.message.parent_id !== undefined &&
      find(data, event.payload.message.root_id) !== undefined,
    view: ({ messages, root, next_before, next_after, newer_count, first_unread_id }, loading) => ({
      ...loading,
      ...(root && { root }),
      messages: next_after === undefined ? withPosts(messages, root, pending(), userId()) : messages,
      has_older: next_before !== undefined,
      has_newer: next_after !== undefined,
      newer_count,
      ...(first_unread_id !== undefined && { first_unread_id }),
    }),
  }
}

/** @param isCurrent whether what the window has needs no reading again */
async function readWindow(options: WindowOptions, current: WindowData, isCurrent: boolean): Promise<WindowData> {
  const { client, read, takeMoves, returnMoves } = options
  const page = async (place: Parameters<ReadWindowPage>[0]): Promise<WindowData> => {
    const part = await read(place)
    return { ...part, ...(await withText(client, part.messages)), newer_count: 0 }
  }
  const moves = takeMoves()
  try {
    return await moved(page, current, moves, isCurrent)
  } catch (error) {
    if (isTransient(error)) returnMoves(moves)
    throw error
  }
}

type ReadPage = (place: Parameters<ReadWindowPage>[0]) => Promise<WindowData>

async function moved(
  page: ReadPage,
  current: WindowData,
  moves: WindowMove[],
  isCurrent: boolean,
): Promise<WindowData> {
  const at = moves.findLastIndex((move) => typeof move === 'object' || move === 'newest')
  const jump = moves[at]
  const isEmpty = current.messages.length === 0
  // A message that is gone is no place: the window stays where it is.
  let data = typeof jump === 'object' ? await page(jump).catch(undefinedIfGone) : undefined
  if (jump === 'newest' || (!data && isEmpty)) data = await page({})
  data ??= isCurrent ? current : await refreshed(page, current)
  for (const move of moves.slice(at + 1)) {
    if (move === 'older' && data.next_before !== undefined) {
      const older: WindowData | undefined = await page({ before: data.next_before }).catch(undefinedIfGone)
      data = older ? trimmedAfter(joined(older, data)) : await page({})
    }
    if (move === 'newer' && data.next_after !== undefined) {
      const newer: WindowData | undefined = await page({ after: data.next_after }).catch(undefinedIfGone)
      data = newer ? trimmedBefore(joined(data, newer)) : await page({})
    }
  }
  return data
}

function undefinedIfGone(error: unknown): undefined {
  if ((error as { code?: string }).code === 'not_found') return undefined
  throw error
}

/** The window read again, from its first message to its last one, and a page of what has come since. */
async function refreshed(page: ReadPage, current: WindowData): Promise<WindowData> {
  const [first, last] = [current.messages[0]!, current.messages.at(-1)!]
  const begin = await page({ around: first.id, limit: REFRESHED }).catch(undefinedIfGone)
  // The first message is gone for good: what the window showed has no place any more.
  if (!begin) return page({})
  const older = begin.messages.filter(({ created_at }) => created_at < first.created_at).length
  let data: WindowData = {
    ...begin,
    messages: begin.messages.slice(older),
    next_before: older > 0 ? first.id : begin.next_before,
  }
  let isPast = false
  while (data.next_after !== undefined && !isPast) {
    isPast = data.messages.at(-1)!.created_at >= last.created_at
    if (isPast && current.next_after !== undefined) break
    data = joined(data, await page({ after: data.next_after, limit: REFRESHED }))
  }
  return { ...data, newer_count: data.next_after === undefined ? 0 : current.newer_count }
}

/** Two windows, of which the second begins where the first one ends. */
function joined(before: WindowData, after: WindowData): WindowData {
  return {
    messages: [...before.messages, ...after.messages],
    root: after.root ?? before.root,
    chunks: new Map([...before.chunks, ...after.chunks]),
    next_before: before.next_before,
    next_after: after.next_after,
    newer_count: after.next_after === undefined ? 0 : Math.max(before.newer_count, after.newer_count),
    first_unread_id: after.first_unread_id,
  }
}

function trimmedAfter(data: WindowData): WindowData {
  const dropped = data.messages.slice(MAX_WINDOW)
  if (dropped.length === 0) return data
  const messages = data.messages.slice(0, MAX_WINDOW)
  return dropped.reduce((rest, { id }) => withoutChunks(rest, id), {
    ...data,
    messages,
    next_after: messages.at(-1)!.id,
  })
}

function trimmedBefore(data: WindowData): WindowData {
  const dropped = data.messages.slice(0, -MAX_WINDOW)
  if (dropped.length === 0) return data
  const messages = data.messages.slice(-MAX_WINDOW)
  return dropped.reduce((rest, { id }) => withoutChunks(rest, id), { ...data, messages, next_before: messages[0]!.id })
}

function find({ messages, root }: WindowData, id: string): TimelineMessage | undefined {
  return root?.id === id ? root : messages.find((message) => message.id === id)
}

/** Replaces a message, or adds one that has just arrived at the end: behind a part that is not read it only counts. */
function withMessage(data: WindowData, message: TimelineMessage, isNew: boolean): WindowData {
  const known = find(data, message.id)
  if (known) {
    const { unread, thread } = known
    const changed: TimelineMessage = { ...(unread && { unread }), ...(thread && { thread }), ...message }
    if (known === data.root) return { ...data, root: changed }
    return { ...data, messages: data.messages.with(data.messages.indexOf(known), changed) }
  }
  if (!isNew) return data
  if (data.next_after !== undefined) return { ...data, newer_count: data.newer_count + 1 }
  const at = placeOf(data.messages, 'created_at', message.created_at)
  if (at === 0 && data.next_before !== undefined) return data
  const first = data.messages.find(({ id }) => id === data.first_unread_id)
  const isFirst = data.first_unread_id === undefined || (first && message.created_at < first.created_at)
  const first_unread_id = message.unread && isFirst ? message.id : data.first_unread_id
  return trimmedBefore({ ...data, first_unread_id, messages: data.messages.toSpliced(at, 0, message) })
}

/** The window after an event. @param has whether a message belongs to its list */
export function foldWindow(
  data: WindowData,
  has: MessageList<WindowData>['has'],
  event: ConversationStreamEvent,
  user_id: string,
): WindowData | 'stale' {
  // Nothing is read yet: what is read then has the message.
  if (data === NOTHING) return data
  const [first] = data.messages
  const place = data.root ?? first
  if (event.type === 'membership.changed' && event.payload.action === 'removed')
    return event.payload.conversation_id === place?.conversation_id ? 'stale' : data
  if (event.type === 'unread.update') {
    const { root_id, conversation_id, unread } = event.payload
    if (conversation_id !== place?.conversation_id) return data
    return unread > 0 ? 'stale' : withoutUnread(data, (message) => message.root_id === root_id)
  }
  if (event.type === 'conversation.unread') {
    const { conversation_id, change, at } = event.payload
    if (conversation_id !== place?.conversation_id) return data
    if (change === 'roots_unread') return 'stale'
    const isMeant = ({ parent_id }: TimelineMessage) => change === 'all_read' || parent_id === undefined
    return withoutUnread(data, (message) => message.created_at <= at && isMeant(message))
  }
  const list: MessageList<WindowData> = {
    has: (message) => has(message) || message.id === data.root?.id,
    find,
    with: (before, message, isNew) => withMessage(before, isNew ? toNews(message, user_id) : message, isNew),
  }
  const next = withQuotes(foldMessages(data, list, event, user_id), event)
  return next !== 'stale' && event.type === 'message.new' ? withReply(next, event.payload.message) : next
}

/** The window after a message that some of its messages quote has changed. */
function withQuotes(data: WindowData | 'stale', event: ConversationStreamEvent): WindowData | 'stale' {
  const changed = changedMessage(event)
  if (!changed || data === 'stale') return data
  const messages = withQuotesOf(data.messages, changed)
  const [root] = data.root ? withQuotesOf([data.root], changed) : []
  return messages === data.messages && root === data.root ? data : { ...data, messages, root }
}

/** A message that has just arrived with what only lists say of it. */
function toNews(message: Message, user_id: string): TimelineMessage {
  return {
    ...message,
    ...(!isBy(message, user_id) && { unread: true }),
    ...(message.id === message.root_id && { thread: { reply_count: 0, last_replier_ids: [] } }),
  }
}

/** The window with a reply counted at its root, unless that was read since. */
function withReply(data: WindowData, { root_id, parent_id, created_at, author_user_id }: Message): WindowData {
  const root = parent_id === undefined ? undefined : find(data, root_id)
  const { reply_count = 0, last_reply_at = '', last_replier_ids = [] } = root?.thread ?? {}
  if (!root || created_at <= last_reply_at) return data
  const repliers = author_user_id === undefined ? last_replier_ids : [author_user_id, ...last_replier_ids]
  const thread = {
    ...root.thread,
    reply_count: reply_count + 1,
    last_reply_at: created_at,
    last_replier_ids: [...new Set(repliers)].slice(0, 3),
  }
  return withMessage(data, { ...root, thread }, false)
}

/** The window after some of its messages were read; its first unread one may be outside of it. */
function withoutUnread(data: WindowData, isRead: (message: TimelineMessage) => boolean): WindowData | 'stale' {
  const read = ({ unread, ...message }: TimelineMessage): TimelineMessage =>
    unread && !isRead(message) ? { ...message, unread } : message
  const root = data.root && read(data.root)
  const messages = data.messages.map(read)
  const first = messages.find(({ unread }) => unread)?.id
  const isKnown = data.first_unread_id === undefined || data.first_unread_id === first
  // The first unread one of the list may be outside of the window.
  const isInside = data.next_before === undefined || data.messages.some(({ id }) => id === data.first_unread_id)
  if (!isKnown && (!isInside || (first === undefined && data.next_after !== undefined))) return 'stale'
  return { ...data, root, messages, first_unread_id: isKnown ? data.first_unread_id : first }
}

/** The messages with the posts that are not stored yet, at their end. */
function withPosts(
  messages: readonly TimelineMessage[],
  root: TimelineMessage | undefined,
  pending: readonly PendingPost[],
  user_id: string,
): readonly TimelineStoreMessage[] {
  if (pending.length === 0) return messages
  const shown = root ? [root, ...messages] : messages
  const known = (wanted: string | undefined) => shown.find(({ id }) => id === wanted)
  return [
    ...messages,
    ...pending.map((post) => toMessage(post, { parent: known(post.parent_id), quoted: known(post.quote_id) }, user_id)),
  ]
}
