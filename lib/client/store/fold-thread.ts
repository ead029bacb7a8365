import type { MessageDelta } from '../../api/answers.ts'
import type { Message, Reaction } from '../../api/messages.ts'
import type { ConversationStreamEvent } from '../types.ts'
import { changedMessage, withQuotesOf } from './quotes.ts'

/** The messages of a thread as they were read and have changed since. */
export interface ThreadData {
  /** By `path`, up to `next_cursor`. */
  messages: readonly Message[]
  /** Messages below `next_cursor` that have arrived since: they are known, although what is before them is not read. */
  detached: readonly Message[]
  /** The chunks of answers in progress, by message and number: one that arrives twice changes nothing. */
  chunks: ReadonlyMap<string, readonly string[]>
  /** The path of the last message that was read, if there are more below. */
  next_cursor?: string | undefined
}

/** The detached messages that are kept, the latest ones. */
const MAX_DETACHED = 50

const ENDS = ['cancelled', 'failed', 'interrupted'] as const

/**
 * The thread after an event. A change of a message also changes its quotes, which may be in other threads.
 *
 * @param user_id the reader: no event has the reader's own reactions
 */
export function foldThread(
  data: ThreadData,
  root_id: string,
  event: ConversationStreamEvent,
  user_id: string,
): ThreadData | 'stale' {
  const changed = changedMessage(event)
  const folded = foldMessages(data, root_id, event, user_id)
  if (!changed || folded === 'stale') return folded
  const messages = withQuotesOf(folded.messages, changed)
  const detached = withQuotesOf(folded.detached, changed)
  return messages === folded.messages && detached === folded.detached ? folded : { ...folded, messages, detached }
}

function foldMessages(
  data: ThreadData,
  root_id: string,
  event: ConversationStreamEvent,
  user_id: string,
): ThreadData | 'stale' {
  switch (event.type) {
    case 'message.new': {
      const { message } = event.payload
      // It may have been read since, and then as it is now.
      return message.root_id !== root_id || find(data, message.id) ? data : withMessage(data, withOwn(message, user_id))
    }
    case 'message.edited':
    case 'message.deleted':
    case 'message.restored': {
      const { message } = event.payload
      if (message.root_id !== root_id) return data
      const known = find(data, message.id)
      if (!known && isBelow(data, message)) return data
      if (known?.deleted_at && message.reactions?.some((each) => isUnsure(each, user_id))) return 'stale'
      return withMessage(data, withOwn(message, user_id, known?.reacted))
    }
    case 'reactions.changed': {
      const { message_id, reactions, emoji, action } = event.payload
      const message = find(data, message_id)
      if (!message || message.deleted_at) return data
      const isOwn = event.payload.user_id === user_id
      const emojis = (message.reacted ?? []).filter((kind) => !isOwn || kind !== emoji)
      if (isOwn && emoji !== undefined && action === 'added') emojis.push(emoji)
      return withMessage(data, withOwn({ ...message, reactions }, user_id, emojis))
    }
    case 'pin.changed': {
      const { message_id, user_id: by, action, at } = event.payload
      const { pinned: _, ...message } = find(data, message_id) ?? {}
      if (!('id' in message) || message.deleted_at) return data
      return withMessage(data, {
        ...(message as Message),
        ...(action === 'added' && { pinned: { ...(by && { by }), at } }),
      })
    }
    case 'attachment.changed': {
      const { message_id, attachment } = event.payload
      const message = find(data, message_id)
      const attachments = message?.attachments?.map((file) => (file.id === attachment.id ? attachment : file))
      return attachments ? withMessage(data, { ...(message as Message), attachments }) : data
    }
    case 'message.delta':
      return event.payload.root_id !== root_id ? data : withChunk(data, event.payload)
    case 'message.done': {
      const { message_id, finish_reason, usage } = event.payload
      const message = find(data, message_id)
      if (!message) return data
      const status = ENDS.find((end) => end === finish_reason) ?? 'complete'
      return withMessage(data, { ...message, status, finish_reason, ...(usage && { usage }) })
    }
    default:
      return data
  }
}

/** Whether a user may have reacted although the first users of the list are others. */
function isUnsure({ count, user_ids }: Reaction, user_id: string): boolean {
  return count > user_ids.length && !user_ids.includes(user_id)
}

/** The message with the user's own reactions: those that name the user, and known ones where not all users are named. */
function withOwn(source: Message, user_id: string, reactedKinds: readonly string[] = []): Message {
  const { reactions = [], reacted: _, ...message } = source
  const reacted = reactions
    .filter((kind) => kind.user_ids.includes(user_id) || (isUnsure(kind, user_id) && reactedKinds.includes(kind.emoji)))
    .map(({ emoji }) => emoji)
  return { ...message, ...(reactions.length > 0 && { reactions }), ...(reacted.length > 0 && { reacted }) }
}

/** Adds a message in its place, or replaces it. */
function withMessage(data: ThreadData, message: Message): ThreadData {
  const placed = isBelow(data, message) ? withDetached(data, message) : withRead(data, message)
  return message.status === 'streaming' ? placed : withoutChunks(placed, message.id)
}

/** Whether a message is below what has been read so far. */
export function isBelow({ next_cursor }: ThreadData, { path }: Message): boolean {
  return next_cursor !== undefined && path > next_cursor
}

function withRead(data: ThreadData, message: Message): ThreadData {
  const at = placeOf(data.messages, message.path)
  const isKnown = data.messages[at]?.id === message.id
  return {
    ...data,
    messages: [...data.messages.slice(0, at), message, ...data.messages.slice(isKnown ? at + 1 : at)],
    detached: data.detached.filter(({ id }) => id !== message.id),
  }
}

function withDetached(data: ThreadData, message: Message): ThreadData {
  const at = data.detached.findIndex(({ id }) => id === message.id)
  if (at >= 0) return { ...data, detached: data.detached.with(at, message) }
  const detached = [...data.detached, message]
  if (detached.length <= MAX_DETACHED) return { ...data, detached }
  return withoutChunks({ ...data, detached: detached.slice(1) }, detached[0]!.id)
}

function withoutChunks(data: ThreadData, message_id: string): ThreadData {
  if (!data.chunks.has(message_id)) return data
  const chunks = new Map(data.chunks)
  chunks.delete(message_id)
  return { ...data, chunks }
}

function withChunk(data: ThreadData, { id, message_id, choices }: MessageDelta): ThreadData {
  const message = find(data, message_id)
  if (message?.status !== 'streaming' || message.deleted_at) return data
  const known = data.chunks.get(message_id) ?? []
  const number = Number(id.slice(id.lastIndexOf(':') + 1))
  if (known[number] !== undefined) return data
  const chunks = [...known]
  chunks[number] = choices[0]!.delta.content
  const next = { ...data, chunks: new Map(data.chunks).set(message_id, chunks) }
  return withMessage(next, { ...message, content: chunks.join('') })
}

function find({ messages, detached }: ThreadData, id: string): Message | undefined {
  const isMeant = (message: Message) => message.id === id
  return messages.find(isMeant) ?? detached.find(isMeant)
}

/** The index of the first message at this path or below it, by halving. */
function placeOf(messages: readonly Message[], path: string): number {
  let from = 0
  let to = messages.length
  while (from < to) {
    const middle = (from + to) >> 1
    if (messages[middle]!.path < path) from = middle + 1
    else to = middle
  }
  return from
}
