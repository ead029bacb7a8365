import { findConversation, toFields } from '../conversations/store.ts'
import { listMessages, toMessage } from '../messages/store.ts'
import type { Queries } from '../storage/database.ts'
import { listSummaries, toSummary } from '../threads/store.ts'
import type { PersistedEvent } from './schema.ts'
import { type EventRow, listEvents } from './store.ts'

/** A line of the log as it goes out. */
export interface NumberedEvent {
  seq: number
  /** Missing when what it is about is gone. */
  event?: PersistedEvent
}

/**
 * Up to `limit` lines of a conversation's log after `seq`, in order and each of them, composed of what is stored now: a deleted text is in
 * no replay, and an event says what its message has become since.
 */
export async function readLog(
  db: Queries,
  conversationId: string,
  seq: number,
  limit: number,
): Promise<NumberedEvent[]> {
  const rows = await listEvents(db, conversationId, seq, limit)
  const messages = await loadBy('id', rows, isAboutMessage, (ids) => listMessages(db, ids))
  const threads = await loadBy('root_id', rows, isAboutThread, (ids) => listSummaries(db, ids))
  const conversation = rows.some(isAboutConversation) ? await findConversation(db, conversationId) : undefined

  return rows.map((row): NumberedEvent => {
    const { seq, type } = row
    const message = messages.get(row.message_id ?? '')
    const thread = threads.get(row.message_id ?? '')
    if (type === 'membership.changed') return { seq, event: toMembership(conversationId, row) }
    if (type === 'conversation.updated' && conversation) {
      return { seq, event: { type, payload: { conversation: toFields(conversation) } } }
    }
    if (type === 'thread.new' && thread) {
      const { root_id } = thread
      return { seq, event: { type, payload: { conversation_id: conversationId, root_id, summary: toSummary(thread) } } }
    }
    if (isAboutMessage(row) && message) {
      return { seq, event: { type, payload: { message: toMessage(message) } } as PersistedEvent }
    }
    return { seq }
  })
}

const isAboutMessage = (row: EventRow) => row.type.startsWith('message.')
const isAboutThread = (row: EventRow) => row.type === 'thread.new'
const isAboutConversation = (row: EventRow) => row.type === 'conversation.updated'

/** What some of the rows name, by the column `key`. */
async function loadBy<K extends string, T extends Record<K, string>>(
  key: K,
  rows: EventRow[],
  wanted: (row: EventRow) => boolean,
  load: (ids: Set<string>) => Promise<T[]>,
): Promise<Map<string, T>> {
  const ids = new Set(rows.filter(wanted).map((row) => row.message_id!))
  return new Map((ids.size > 0 ? await load(ids) : []).map((each) => [each[key], each]))
}

function toMembership(conversationId: string, row: EventRow): PersistedEvent {
  const detail = JSON.parse(row.detail ?? '{}')
  return { type: 'membership.changed', payload: { conversation_id: conversationId, user_id: row.user_id!, ...detail } }
}
