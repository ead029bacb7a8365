import { listMessages, toMessage } from '../messages/store.ts'
import type { Queries } from '../storage/database.ts'
import { listSummaries, toSummary } from '../threads/store.ts'
import type { PersistedEvent } from './schema.ts'
import { type EventRow, listEvents } from './store.ts'

/** A line of the log as it goes out. */
export interface NumberedEvent {
  seq: number
  event: PersistedEvent
}

/**
 * Up to `limit` events of a conversation after `seq`, in order, composed of what is stored now: a deleted text is in
 * no replay, and an event says what its message has become since.
 */
export async function readLog(
  db: Queries,
  conversationId: string,
  seq: number,
  limit: number,
): Promise<NumberedEvent[]> {
  const rows = await listEvents(db, conversationId, seq, limit)
  const messageIds = idsOf(rows, (row) => row.type.startsWith('message.'))
  const rootIds = idsOf(rows, (row) => row.type === 'thread.new')
  const messages = new Map((messageIds.length ? await listMessages(db, messageIds) : []).map((row) => [row.id, row]))
  const threads = new Map((rootIds.length ? await listSummaries(db, rootIds) : []).map((row) => [row.root_id, row]))

  return rows.flatMap((row): NumberedEvent[] => {
    const message = messages.get(row.message_id ?? '')
    const thread = threads.get(row.message_id ?? '')
    if (row.type === 'membership.changed') return [{ seq: row.seq, event: toMembership(conversationId, row) }]
    if (row.type === 'thread.new' && thread) {
      const { root_id } = thread
      return [
        {
          seq: row.seq,
          event: { type: row.type, payload: { conversation_id: conversationId, root_id, summary: toSummary(thread) } },
        },
      ]
    }
    if (row.type === 'message.new' && message)
      return [{ seq: row.seq, event: { type: row.type, payload: { message: toMessage(message) } } }]
    // The conversation is being deleted, and its log with it.
    return []
  })
}

function toMembership(conversationId: string, row: EventRow): PersistedEvent {
  const detail = JSON.parse(row.detail ?? '{}')
  return { type: 'membership.changed', payload: { conversation_id: conversationId, user_id: row.user_id!, ...detail } }
}

function idsOf(rows: EventRow[], wanted: (row: EventRow) => boolean): string[] {
  return [...new Set(rows.filter(wanted).map((row) => row.message_id!))]
}
