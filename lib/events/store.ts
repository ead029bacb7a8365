import { fingerprint } from '../ids.ts'
import type { Queries } from '../storage/database.ts'
import { greatest, jsonList, listOf, type Micros } from '../storage/sql.ts'
import { eventId, type Head } from './rules.ts'
import type { PersistedEvent } from './schema.ts'

/** An event to be logged. It names its message or member; the rest is read from where it lives. */
export interface NewEvent {
  type: PersistedEvent['type']
  message_id?: string
  user_id?: string
  detail?: Record<string, string>
}

/** A line of the log. */
export interface EventRow {
  seq: number
  type: PersistedEvent['type']
  message_id: string | null
  user_id: string | null
  detail: string | null
}

/**
 * Adds to a conversation's log and moves its clock on to `at`. The numbers are taken under the conversation's row, so
 * they follow each other without gaps in the order of commits.
 */
export async function appendEvents(tx: Queries, conversationId: string, events: NewEvent[], at: Micros): Promise<void> {
  const head = await tx.get<{ last_seq: number }>(
    `UPDATE conversations SET last_seq = last_seq + ?, clock = ${greatest(tx.dialect)}(clock, ?)
      WHERE id = ? RETURNING last_seq`,
    events.length,
    at,
    conversationId,
  )
  if (!head || events.length === 0) return
  const first = head.last_seq - events.length + 1
  await tx.run(
    `INSERT INTO events (conversation_id, seq, type, message_id, user_id, detail, created_at)
     VALUES ${events.map(() => '(?, ?, ?, ?, ?, ?, ?)').join(', ')}`,
    ...events.flatMap((event, index) => [
      conversationId,
      first + index,
      event.type,
      event.message_id ?? null,
      event.user_id ?? null,
      event.detail ? JSON.stringify(event.detail) : null,
      at,
    ]),
  )
}

/** Up to `limit` lines after `seq`, in order. By (conversation_id, seq). */
export function listEvents(db: Queries, conversationId: string, seq: number, limit: number): Promise<EventRow[]> {
  return db.all<EventRow>(
    `SELECT seq, type, message_id, user_id, detail FROM events
      WHERE conversation_id = ? AND seq > ?
      ORDER BY seq
      LIMIT ?`,
    conversationId,
    seq,
    limit,
  )
}

/** Where the log of a conversation stands, or `undefined` when there is no such conversation. */
export async function findHead(db: Queries, conversationId: string): Promise<Head | undefined> {
  const row = await db.get<{ last: number; first: number; epoch: string }>(
    `SELECT last_seq AS last,
            (SELECT coalesce(min(seq), 0) FROM events WHERE conversation_id = conversations.id) AS first,
            (SELECT value FROM meta WHERE name = 'epoch') AS epoch
       FROM conversations WHERE id = ?`,
    conversationId,
  )
  return row && { last: row.last, first: row.first, epoch: epochOf(row.epoch, conversationId) }
}

/** The id of a conversation's last event: a stream resumed from it gets exactly what happens after this read. */
export async function findPosition(db: Queries, conversationId: string): Promise<string> {
  const row = await db.get<{ last: number; epoch: string }>(
    "SELECT last_seq AS last, (SELECT value FROM meta WHERE name = 'epoch') AS epoch FROM conversations WHERE id = ?",
    conversationId,
  )
  return eventId(epochOf(row!.epoch, conversationId), row!.last)
}

/** The last number given out in each of these conversations. */
export function listLastSeqs(
  db: Queries,
  conversationIds: Iterable<string>,
): Promise<{ id: string; last_seq: number }[]> {
  return db.all(`SELECT id, last_seq FROM conversations WHERE id IN ${listOf(db.dialect)}`, jsonList(conversationIds))
}

/** Names the history of one conversation in one database: another conversation or a restored backup has another one. */
function epochOf(databaseEpoch: string, conversationId: string): string {
  return fingerprint(`${databaseEpoch}/${conversationId}`)
}
