import type { Message, Reaction } from '../../api/messages.ts'
import { isUnderWay } from '../../core/message-status.ts'
import type { ConversationStreamEvent } from '../types.ts'
import { type AnswerChunk, withChunks } from './chunks.ts'

const ENDS = ['cancelled', 'failed', 'interrupted'] as const

/** The messages of a view, with the chunks of answers in progress. */
export interface MessagesData {
  /** The chunks by message and number: one that arrives twice changes nothing. */
  chunks: ReadonlyMap<string, readonly AnswerChunk[]>
}

/** What a view has, and where a message is in it. */
export interface MessageList<Data extends MessagesData> {
  /** Whether a message belongs to the list, whether or not it is read. */
  has(message: Pick<Message, 'id' | 'conversation_id' | 'root_id' | 'parent_id'>): boolean
  find(data: Data, id: string): Message | undefined
  /** Replaces a message, or adds it in its place. @param isNew whether it has just arrived */
  with(data: Data, message: Message, isNew: boolean): Data
}

/**
 * The messages after an event.
 *
 * @param user_id the reader: no event has the reader's own reactions
 */
export function foldMessages<Data extends MessagesData>(
  data: Data,
  list: MessageList<Data>,
  event: ConversationStreamEvent,
  user_id: string,
): Data | 'stale' {
  const find = (id: string) => list.find(data, id)
  const withMessage = (message: Message, isNew = false) => {
    const placed = list.with(data, message, isNew)
    return isUnderWay(message) ? placed : withoutChunks(placed, message.id)
  }
  switch (event.type) {
    case 'message.new': {
      const { message } = event.payload
      // It may have been read since, and then as it is now.
      return !list.has(message) || find(message.id) ? data : withMessage(withOwn(message, user_id), true)
    }
    case 'message.edited':
    case 'message.deleted':
    case 'message.restored': {
      const { message } = event.payload
      if (!list.has(message)) return data
      const known = find(message.id)
      if (known?.deleted_at && message.reactions?.some((each) => isUnsure(each, user_id))) return 'stale'
      return withMessage(withOwn(message, user_id, known))
    }
    case 'reactions.changed': {
      const { message_id, reactions, emoji, action } = event.payload
      const message = find(message_id)
      if (!message || message.deleted_at) return data
      const isOwn = event.payload.user_id === user_id
      const emojis = (message.reacted ?? []).filter((kind) => !isOwn || kind !== emoji)
      if (isOwn && emoji !== undefined && action === 'added') emojis.push(emoji)
      return withMessage(withOwn({ ...message, reactions }, user_id, { ...message, reacted: emojis }))
    }
    case 'pin.changed': {
      const { message_id, user_id: by, action, at } = event.payload
      const { pinned: _, ...message } = find(message_id) ?? {}
      if (!('id' in message) || message.deleted_at) return data
      return withMessage({
        ...(message as Message),
        ...(action === 'added' && { pinned: { ...(by && { by }), at } }),
      })
    }
    case 'attachment.changed': {
      const { message_id, attachment } = event.payload
      const message = find(message_id)
      const attachments = message?.attachments?.map((file) => (file.id === attachment.id ? attachment : file))
      return attachments ? withMessage({ ...(message as Message), attachments }) : data
    }
    case 'message.delta': {
      const { id, message_id, choices } = event.payload
      return withChunk(data, list, message_id, Number(id.slice(id.lastIndexOf(':') + 1)), choices[0]!.delta.content)
    }
    case 'message.part': {
      const { message_id, idx, part } = event.payload
      return withChunk(data, list, message_id, idx, part)
    }
    case 'message.failed': {
      const { message_id, code } = event.payload
      const message = find(message_id)
      return message ? withMessage({ ...message, failure: code }) : data
    }
    case 'message.done': {
      const { message_id, finish_reason, usage, message: ended } = event.payload
      const message = find(message_id)
      if (!message) return data
      const { parts } = message
      if (ended) return withMessage(withOwn({ ...ended, ...(parts && { parts }) }, user_id, message))
      const status = ENDS.find((end) => end === finish_reason) ?? 'complete'
      return withMessage({ ...message, status, finish_reason, ...(usage && { usage }) })
    }
    default:
      return data
  }
}

/** Whether a user may have reacted although the first users of the list are others. */
function isUnsure({ count, user_ids }: Reaction, user_id: string): boolean {
  return count > user_ids.length && !user_ids.includes(user_id)
}

/**
 * The message with what is the user's own, which no event has: a known rating, and the reactions that name the user, or are known
 * where not all users are named.
 */
function withOwn(source: Message, user_id: string, known: Partial<Message> = {}): Message {
  const { reactions = [], reacted: _, feedback = known.feedback, ...message } = source
  const reacted = reactions
    .filter(
      (kind) => kind.user_ids.includes(user_id) || (isUnsure(kind, user_id) && known.reacted?.includes(kind.emoji)),
    )
    .map(({ emoji }) => emoji)
  return {
    ...message,
    ...(reactions.length > 0 && { reactions }),
    ...(reacted.length > 0 && { reacted }),
    ...(feedback && !message.deleted_at && { feedback }),
  }
}

/** The data without the chunks of an answer that has ended, or is not shown any more. */
export function withoutChunks<Data extends MessagesData>(data: Data, message_id: string): Data {
  if (!data.chunks.has(message_id)) return data
  const chunks = new Map(data.chunks)
  chunks.delete(message_id)
  return { ...data, chunks }
}

function withChunk<Data extends MessagesData>(
  data: Data,
  list: MessageList<Data>,
  message_id: string,
  number: number,
  chunk: AnswerChunk,
): Data {
  const message = list.find(data, message_id)
  if (!message || !isUnderWay(message) || message.deleted_at) return data
  const known = data.chunks.get(message_id) ?? []
  if (known[number] !== undefined) return data
  const chunks = [...known]
  chunks[number] = chunk
  const next = { ...data, chunks: new Map(data.chunks).set(message_id, chunks) }
  return list.with(next, withChunks(message, chunks), false)
}

/** The index of the first message at this place or behind it, by halving: the messages are in the order of `key`. */
export function placeOf(messages: readonly Message[], key: 'path' | 'created_at', place: string): number {
  let from = 0
  let to = messages.length
  while (from < to) {
    const middle = (from + to) >> 1
    if (messages[middle]![key] < place) from = middle + 1
    else to = middle
  }
  return from
}
