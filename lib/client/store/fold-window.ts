import type { Message, ReplyState, ThreadState, TimelineMessage } from '../../api/client-entities.ts'
import type { ThreadSummary } from '../../api/threads.ts'
import type { ConversationStreamEvent } from '../types.ts'
import { foldMessages, type MessageList, type MessagesData, placeOf, withoutChunks } from './fold-messages.ts'
import { changedMessage, withQuotesOf } from './quotes.ts'
import { isBy } from './threads.ts'
import type { UnreadCount } from './unread.ts'

/** The messages that a window keeps: with more, those at its other end are dropped. */
const MAX_WINDOW = 1_000

/** Part of a list by arrival without a gap, with the places where it continues. */
export interface WindowData extends MessagesData, UnreadCount {
  /** By arrival. */
  messages: readonly TimelineMessage[]
  /** The root, in the replies of a thread. */
  root?: TimelineMessage | undefined
  next_before?: string | undefined
  next_after?: string | undefined
  /** Messages that have arrived behind the window since it was read. */
  newer_count: number
  /** The arrival of the first of them. */
  newer_from?: string | undefined
  first_unread_id?: string | undefined
  /** The title of the latest thread, which is told before its root. */
  titled?: Titled | undefined
}

/** A thread with its title, empty without one. */
type Titled = Pick<ThreadSummary, 'root_id' | 'title'>

/** A window that is not read yet. */
export const NOTHING: WindowData = { messages: [], newer_count: 0, unread: 0, chunks: new Map() }

/** Whether its reader does not participate: then nothing of it is followed, or unread. */
export function isOutside({ is_outside, root }: WindowData): boolean {
  return !!is_outside || (!!root?.thread && root.thread.following === undefined)
}

/** The window without the newest messages beyond those that it keeps. */
export function trimmedAfter(data: WindowData): WindowData {
  const messages = data.messages.slice(0, MAX_WINDOW)
  return trimmed(data, data.messages.slice(MAX_WINDOW), { messages, next_after: messages.at(-1)?.id })
}

/** The window without the oldest messages beyond those that it keeps. */
export function trimmedBefore(data: WindowData): WindowData {
  const messages = data.messages.slice(-MAX_WINDOW)
  return trimmed(data, data.messages.slice(0, -MAX_WINDOW), { messages, next_before: messages[0]?.id })
}

function trimmed(data: WindowData, dropped: readonly Message[], rest: Partial<WindowData>): WindowData {
  if (dropped.length === 0) return data
  return dropped.reduce((left, { id }) => withoutChunks(left, id), { ...data, ...rest })
}

export function find({ messages, root }: WindowData, id: string): TimelineMessage | undefined {
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
  if (data.next_after !== undefined) {
    const { newer_count: before, newer_from } = data
    return { ...data, newer_count: before + 1, newer_from: before > 0 ? newer_from : message.created_at }
  }
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
  if (event.type === 'thread.new') return withTitle(data, event.payload.summary)
  if (event.type === 'thread.updated') return withTitle(data, event.payload)
  const [first] = data.messages
  const place = data.root ?? first
  const isElsewhere = 'conversation_id' in event.payload && event.payload.conversation_id !== place?.conversation_id
  if (isElsewhere) return data
  if (event.type === 'membership.changed' && (event.payload.action === 'removed' || isOutside(data))) return 'stale'
  if (event.type === 'unread.update') {
    const { root_id, unread, unread_replies } = event.payload
    const root = find(data, root_id)
    if (unread > 0) {
      // As a follower gets it with a reply that is here already.
      const isKnown =
        unread_replies === root?.thread?.unread_replies && unread - unread_replies === (root.unread ? 1 : 0)
      return isKnown ? data : 'stale'
    }
    return withoutUnread(
      data,
      (message) => message.root_id === root_id,
      ({ id }) => id === root_id,
    )
  }
  if (event.type === 'thread.followed') {
    const { root_id, following, unread_replies } = event.payload
    const root = find(data, root_id)
    return root?.thread
      ? withMessage(data, { ...root, thread: { ...root.thread, following, unread_replies } }, false)
      : data
  }
  if (event.type === 'conversation.unread' || event.type === 'unread.cleared') {
    const { change, at } =
      event.type === 'unread.cleared' ? { change: 'all_read', at: event.payload.up_to } : event.payload
    if (change === 'roots_unread') return 'stale'
    const isAll = change === 'all_read'
    const isMeant = ({ parent_id }: TimelineMessage) => isAll || parent_id === undefined
    // How many of its replies arrived up to then is not known here.
    const isPart = ({ thread }: TimelineMessage) => !!thread?.unread_replies && thread.last_reply_at! > at
    if (isAll && (data.messages.some(isPart) || (data.root && isPart(data.root)))) return 'stale'
    return withoutUnread(
      data,
      (message) => message.created_at <= at && isMeant(message),
      () => isAll,
    )
  }
  const list: MessageList<WindowData> = {
    has: (message) => has(message) || message.id === data.root?.id,
    find,
    with: (before, message, isNew) => withMessage(before, isNew ? toNews(message, user_id, data) : message, isNew),
  }
  // The title of a thread goes and comes back with its root.
  const changed = changedMessage(event)
  if (changed && event.type !== 'message.edited' && find(data, changed.id)?.thread) return 'stale'
  const next = withQuotes(foldMessages(data, list, event, user_id), changed)
  return next === 'stale' ? next : withThread(next, event, user_id)
}

/** The window after a message that some of its messages quote has changed. */
function withQuotes(data: WindowData | 'stale', changed: Message | undefined): WindowData | 'stale' {
  if (!changed || data === 'stale') return data
  const messages = withQuotesOf(data.messages, changed)
  const [root] = data.root ? withQuotesOf([data.root], changed) : []
  return messages === data.messages && root === data.root ? data : { ...data, messages, root }
}

/** The window with the title of a thread, at its root if that is here. */
function withTitle(data: WindowData, titled: Titled): WindowData {
  const root = find(data, titled.root_id)
  const next = { ...data, titled }
  return root?.thread ? withMessage(next, { ...root, thread: { ...root.thread, ...titleOf(titled) } }, false) : next
}

const titleOf = ({ title }: Titled) => ({ title: title || undefined })

/** A message that has just arrived with what only lists say of it. */
function toNews(message: Message, user_id: string, data: WindowData): TimelineMessage {
  const isOwn = isBy(message, user_id)
  const own = !isOutside(data) && { following: isOwn || !!data.conversation?.direct, unread_replies: 0 }
  // A user that it mentions gets `thread.followed`, too.
  const thread = {
    reply_count: 0,
    last_replier_ids: [],
    ...own,
    ...(data.titled?.root_id === message.id && titleOf(data.titled)),
  }
  return { ...message, ...(!isOwn && own && { unread: true }), ...(message.id === message.root_id && { thread }) }
}

/** The window with the thread of a reply, as its event has it, at the root. */
function withThread(data: WindowData, event: ConversationStreamEvent, user_id: string): WindowData {
  if (event.type !== 'message.new' && event.type !== 'message.deleted' && event.type !== 'message.restored') return data
  const { message, thread } = event.payload
  const root = message.parent_id ? find(data, message.root_id) : undefined
  if (!root?.thread) return data
  const { last_reply_at = '', unread_replies = 0 } = root.thread
  // One that was counted since is not counted again; a post of one's own is before its event has come.
  const isNew = event.type === 'message.new' && message.created_at > last_reply_at
  if (event.type === 'message.new' && message.created_at < last_reply_at) return data
  if (!thread && !isNew) return data
  const isOwn = isBy(message, user_id)
  const state = {
    ...root.thread,
    ...(thread ? repliesOf(thread) : withReply(root.thread, message)),
    ...(isNew &&
      !isOutside(data) && {
        following: root.thread.following || isOwn,
        unread_replies: unread_replies + (isOwn ? 0 : 1),
      }),
  }
  return withMessage(data, { ...root, thread: state }, false)
}

const repliesOf = ({ root_id: _, ...replies }: ReplyState) => replies

/** What a thread is told by with a reply of which the event has not come yet. */
function withReply({ reply_count, last_replier_ids }: ThreadState, { created_at, author_user_id }: Message) {
  const repliers = author_user_id === undefined ? last_replier_ids : [author_user_id, ...last_replier_ids]
  return {
    reply_count: reply_count + 1,
    last_reply_at: created_at,
    last_replier_ids: [...new Set(repliers)].slice(0, 3),
  }
}

/**
 * The window after some of its messages were read, and all replies of some roots; its first unread message may be outside of
 * it.
 */
function withoutUnread(
  data: WindowData,
  isRead: (message: TimelineMessage) => boolean,
  areRead: (root: TimelineMessage) => boolean,
): WindowData | 'stale' {
  const read = (message: TimelineMessage): TimelineMessage => {
    const { unread, thread, ...rest } = message
    const isUnread = unread && !isRead(message)
    const isSame = isUnread === unread && !(thread?.unread_replies && areRead(message))
    if (isSame) return message
    const replies = thread && { thread: areRead(message) ? { ...thread, unread_replies: 0 } : thread }
    return { ...rest, ...(isUnread && { unread }), ...replies }
  }
  const root = data.root && read(data.root)
  const messages = data.messages.map(read)
  const first = messages.find(({ unread }) => unread)?.id
  const isKnown = data.first_unread_id === undefined || data.first_unread_id === first
  // The first unread one of the list may be outside of the window.
  const isInside = data.next_before === undefined || data.messages.some(({ id }) => id === data.first_unread_id)
  if (!isKnown && (!isInside || (first === undefined && data.next_after !== undefined))) return 'stale'
  if (isKnown && root === data.root && messages.every((message, at) => message === data.messages[at])) return data
  return { ...data, root, messages, first_unread_id: isKnown ? data.first_unread_id : first }
}
