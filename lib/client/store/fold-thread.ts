import type { Message } from '../../api/messages.ts'
import type { ConversationStreamEvent } from '../types.ts'
import { foldMessages, type MessagesData, placeOf, withoutChunks } from './fold-messages.ts'
import { changedMessage, withQuotesOf } from './quotes.ts'

/** The messages of a thread as they were read and have changed since. */
export interface ThreadData extends MessagesData {
  /** By `path`, up to `next_cursor`. */
  messages: readonly Message[]
  /** Messages below `next_cursor` that have arrived since: they are known, although what is before them is not read. */
  detached: readonly Message[]
  title?: string | undefined
  /** The path of the last message that was read, if there are more below. */
  next_cursor?: string | undefined
}

/** The detached messages that are kept, the latest ones. */
const MAX_DETACHED = 50

/**
 * The thread after an event. A change of a message also changes its quotes, which may be in other threads.
 *
 * @param user_id as in {@link foldMessages}
 */
export function foldThread(
  data: ThreadData,
  root_id: string,
  event: ConversationStreamEvent,
  user_id: string,
): ThreadData | 'stale' {
  const list = { has: (message: { root_id: string }) => message.root_id === root_id, find, with: withMessage }
  const changed = changedMessage(event)
  const folded = foldMessages(data, list, event, user_id)
  if (!changed || folded === 'stale') return folded
  const messages = withQuotesOf(folded.messages, changed)
  const detached = withQuotesOf(folded.detached, changed)
  return messages === folded.messages && detached === folded.detached ? folded : { ...folded, messages, detached }
}

/** Replaces a message, or adds it in its place; below what was read only one that has just arrived. */
function withMessage(data: ThreadData, message: Message, isNew: boolean): ThreadData {
  if (!isBelow(data, message)) return withRead(data, message)
  return isNew || find(data, message.id) ? withDetached(data, message) : data
}

/** Whether a message is below what has been read so far. */
export function isBelow({ next_cursor }: ThreadData, { path }: Message): boolean {
  return next_cursor !== undefined && path > next_cursor
}

function withRead(data: ThreadData, message: Message): ThreadData {
  const at = placeOf(data.messages, 'path', message.path)
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

function find({ messages, detached }: ThreadData, id: string): Message | undefined {
  const isMeant = (message: Message) => message.id === id
  return messages.find(isMeant) ?? detached.find(isMeant)
}
