import type { TimelineMessage } from '../../api/client-entities.ts'
import { isUnderWay } from '../../core/message-status.ts'
import { isTransient, undefinedIfGone } from '../backoff.ts'
import type { MessageList } from './fold-messages.ts'
import { find, foldWindow, isOutside, NOTHING, trimmedAfter, trimmedBefore, type WindowData } from './fold-window.ts'
import { toMessage } from './pending.ts'
import type { Plan } from './resource.ts'
import type { MessagesView, PendingPost, StoreClient, TimelineStoreMessage } from './types.ts'
import { type CountedConversation, foldUnread, type UnreadCount } from './unread.ts'

/** How many messages are read again at once. */
const REFRESHED = 200

/** A page of the list, with the place where it was read. */
export type ReadWindowPage = (place: {
  before?: string | undefined
  after?: string | undefined
  around?: string | undefined
  limit?: number
}) => Promise<Pick<WindowData, 'messages' | 'root' | 'next_before' | 'next_after' | 'first_unread_id'>>

/** Where a window is read next. */
export type WindowMove = 'older' | 'newer' | { around: string } | 'newest'

export interface WindowOptions {
  client: StoreClient
  read: ReadWindowPage
  has: MessageList<WindowData>['has']
  /** The conversation whose unread messages are counted; `undefined` for the replies of a thread. */
  conversation_id: string | undefined
  userId: () => string
  /** A conversation, if a list of conversations has it. */
  summaryOf: (conversation_id: string) => CountedConversation | undefined
  pending: () => readonly PendingPost[]
  /** The moves since the last reading, which it takes. */
  takeMoves: () => WindowMove[]
  /** Keeps moves for the next reading. */
  returnMoves: (moves: WindowMove[]) => void
}

/** A list by arrival around a place, which is read in both directions and follows the stream at its end. */
export function windowPlan(options: WindowOptions): Plan<WindowData, MessagesView> {
  const { userId, pending, has, conversation_id } = options
  return {
    initial: NOTHING,
    isEphemeral: true,
    read: (current, _, from) => readWindow(options, current, from !== NOTHING),
    fold(data, event) {
      const next = foldWindow(data, has, event, userId())
      return next === 'stale' || data === NOTHING ? next : foldUnread(next, event, conversation_id, userId())
    },
    // Who has replied last is not in these events, nor whether the message is unread: a deleted one is not.
    isUnsure: (event, data, isMissed) => {
      const { type, payload } = event
      // It may be in the number that was read meanwhile.
      if (type === 'message.new') return isMissed && payload.message.conversation_id === conversation_id
      if (type !== 'message.deleted' && type !== 'message.restored') return false
      const { id, root_id, parent_id } = payload.message
      const known = find(data, id)
      return known
        ? type === 'message.restored' || !!known.unread
        : payload.message.conversation_id === conversation_id || (parent_id !== undefined && !!find(data, root_id))
    },
    visits: (data) => (isOutside(data) ? (conversation_id ?? data.root?.conversation_id) : undefined),
    view: ({ messages, root, next_before, next_after, newer_count, first_unread_id, unread }, loading) => ({
      ...loading,
      ...(root && { root }),
      messages: next_after === undefined ? withPosts(messages, root, pending(), userId()) : messages,
      has_older: next_before !== undefined,
      has_newer: next_after !== undefined,
      newer_count,
      unread: root?.thread?.unread_replies ?? unread,
      ...(first_unread_id !== undefined && { first_unread_id }),
    }),
  }
}

/** @param isCurrent whether what the window has needs no reading again */
async function readWindow(options: WindowOptions, current: WindowData, isCurrent: boolean): Promise<WindowData> {
  const { client, read, takeMoves, returnMoves } = options
  const page = async (place: Parameters<ReadWindowPage>[0]): Promise<WindowData> => {
    const part = await read(place)
    // Loaded where an answer is in progress.
    const isRunning = part.messages.some(isUnderWay)
    const texts = isRunning && (await (await import('./answers.ts')).withText(client, part.messages))
    return { ...NOTHING, ...part, ...texts }
  }
  const moves = takeMoves()
  try {
    const counting = isCurrent ? current : readUnread(options)
    const [data, { unread, counted_to, conversation, is_outside }] = await Promise.all([
      moved(page, current, moves, isCurrent),
      counting,
    ])
    return { ...data, unread, counted_to, conversation, is_outside }
  } catch (error) {
    if (isTransient(error)) returnMoves(moves)
    throw error
  }
}

/** What is unread of the conversation. */
async function readUnread({ client, conversation_id: id, summaryOf }: WindowOptions): Promise<UnreadCount> {
  if (id === undefined) return NOTHING
  const read = (summaryOf(id) ?? client.conversations.get(id)) as Promise<CountedConversation>
  const counts = client.threads.unread(id, { limit: 1 })
  try {
    const [{ unread }, conversation] = await Promise.all([counts, read])
    return { unread, conversation }
  } catch (error) {
    if ((error as { reason?: string }).reason !== 'not_joined') throw error
    return { unread: 0, is_outside: true, conversation: await read }
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
      data = newer ? trimmedBefore(withNewer(data, newer)) : await page({})
    }
  }
  return data
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
  return stillNewer(data, current, arrivedIn(data.messages, current) - arrivedIn(current.messages, current))
}

/** The window with a page behind it. */
function withNewer(data: WindowData, newer: WindowData): WindowData {
  return stillNewer(joined(data, newer), data, arrivedIn(newer.messages, data))
}

/** How many of these messages were counted as having arrived behind a window. */
function arrivedIn(messages: readonly TimelineMessage[], { newer_from = '~' }: WindowData): number {
  return messages.filter(({ created_at }) => created_at >= newer_from).length
}

/** A window with the count of what has arrived behind the one before, less what it has of that. */
function stillNewer(data: WindowData, { newer_count, newer_from }: WindowData, arrived: number): WindowData {
  return { ...data, newer_count: data.next_after === undefined ? 0 : Math.max(0, newer_count - arrived), newer_from }
}

/** Two windows, of which the second begins where the first one ends. */
function joined(before: WindowData, after: WindowData): WindowData {
  return {
    ...after,
    messages: [...before.messages, ...after.messages],
    root: after.root ?? before.root,
    chunks: new Map([...before.chunks, ...after.chunks]),
    next_before: before.next_before,
    newer_count: after.next_after === undefined ? 0 : Math.max(before.newer_count, after.newer_count),
    newer_from: before.newer_from ?? after.newer_from,
  }
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
    ...pending.map((post): TimelineStoreMessage => {
      const message = toMessage(post, { parent: known(post.parent_id), quoted: known(post.quote_id) }, user_id)
      return post.title ? { ...message, thread: { title: post.title, reply_count: 0, last_replier_ids: [] } } : message
    }),
  ]
}
