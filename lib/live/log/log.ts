import type { PersistedEvent } from '../../context.ts'
import type { Cutoff } from '../../core/clock.ts'
import { fingerprint } from '../../core/ids.ts'
import type { Queries } from '../../storage/database.ts'
import { among, type Micros, type Sql, sql } from '../../storage/sql.ts'
import { eventId, type Head } from './event-ids.ts'

/** A line of the log. */
export interface EventRow {
  seq: number
  conversation_id: string
  created_at: Micros
  type: PersistedEvent['type']
  message_id: string | null
  user_id: string | null
  detail: string | null
  /** The only user that the event is for; then `seq` is negative, and not a number of the conversation. */
  for_user_id: string | null
}

/** A line of the log, with its number among all events. */
export interface StoredRow extends EventRow {
  id: number
}

/** A line of a log, with its event. */
export interface NumberedEvent {
  seq: number
  conversation_id: string
  at: Micros
  /** The only user who gets the event. */
  for_user_id?: string
  /** Missing if the subject of the event is deleted. */
  event?: PersistedEvent
}

/** Up to `limit` lines after `seq`, in order; private ones only after a negative number. By (conversation_id, seq). */
export function listEvents(db: Queries, conversationId: string, seq: number, limit: number): Promise<StoredRow[]> {
  return db.all<StoredRow>(
    sql`SELECT id, seq, conversation_id, type, message_id, user_id, detail, created_at, for_user_id FROM events
      WHERE conversation_id = ${conversationId} AND seq > ${seq}
      ORDER BY seq
      LIMIT ${limit}`,
  )
}

/**
 * Deletes up to `limit` of the oldest lines of the log, those from before the instant `before`. The newest line of all
 * stays: its number is the end of the log.
 *
 * @param isNeeded the condition that the row `e` stays
 * @returns the number of deleted lines; fewer than `limit` if no more are left
 */
export async function deleteEventsBefore(
  tx: Queries,
  before: Cutoff,
  limit: number,
  isNeeded: Sql = sql`1 = 0`,
): Promise<number> {
  const columns = tx.dialect === 'sqlite' ? sql`id, created_at` : sql`id, created_at, xid`
  // Reads the first `limit` lines by primary key, in a log of any length: ids increase with time.
  const due = sql`SELECT id FROM (SELECT ${columns} FROM events ORDER BY id LIMIT ${limit}) AS e
        WHERE created_at < ${before} AND id < (SELECT max(id) FROM events) AND NOT (${isNeeded})`
  const deletion = sql`DELETE FROM events WHERE id IN (${due})`
  if (tx.dialect === 'sqlite') {
    // A stream can resume only from the last of them on. That earlier ones are missing may be due to a deleted conversation.
    await tx.run(
      sql`INSERT INTO meta (name, value) SELECT 'last_deleted_id', max(id) FROM (${due}) WHERE true HAVING max(id) IS NOT NULL
          ON CONFLICT (name) DO UPDATE SET value = max(CAST(meta.value AS INTEGER), CAST(excluded.value AS INTEGER))`,
    )
    return tx.run(deletion)
  }
  // A stream can resume only from a snapshot that sees all transactions whose events are deleted.
  const row = await tx.get<{ count: number }>(
    sql`WITH deleted AS (${deletion} RETURNING xid),
          noted AS (
            INSERT INTO meta (name, value)
            SELECT 'last_deleted_xid', max(xid)::text FROM deleted HAVING max(xid) IS NOT NULL
            ON CONFLICT (name) DO UPDATE
               SET value = greatest(meta.value::xid8, EXCLUDED.value::xid8)::text)
     SELECT count(*) AS count FROM deleted`,
  )
  return Number(row!.count)
}

/** The ends of the logs of those of these conversations that exist, by conversation. By primary keys. */
export async function listHeads(db: Queries, conversationIds: Iterable<string>): Promise<Map<string, Head>> {
  const rows = await db.all<{ id: string; last: number; first: number; epoch: string; salt: string | null }>(
    sql`SELECT id, salt, last_seq AS last,
            (SELECT coalesce(min(seq), 0) FROM events
              WHERE conversation_id = conversations.id AND seq > 0) AS first,
            (SELECT value FROM meta WHERE name = 'epoch') AS epoch
       FROM conversations WHERE id ${among(db, conversationIds)}`,
  )
  return new Map(rows.map(({ id, epoch, salt, ...ends }) => [id, { ...ends, epoch: epochOf(epoch, id, salt) }]))
}

/** The id of the last event of a conversation: a stream that resumes from it gets exactly the events after this read. */
export async function findPosition(db: Queries, conversationId: string): Promise<string> {
  const row = await db.get<{ last: number; epoch: string; salt: string | null }>(
    sql`SELECT salt, last_seq AS last, (SELECT value FROM meta WHERE name = 'epoch') AS epoch FROM conversations
          WHERE id = ${conversationId}`,
  )
  return eventId(epochOf(row!.epoch, conversationId, row!.salt), row!.last)
}

/** The last event number of each of these conversations. */
export function listLastSeqs(
  db: Queries,
  conversationIds: Iterable<string>,
): Promise<{ id: string; last_seq: number }[]> {
  return db.all(sql`SELECT id, last_seq FROM conversations WHERE id ${among(db, conversationIds)}`)
}

/**
 * Identifies one history of a conversation in one database: a restored backup has another epoch, and a conversation that
 * came back another salt.
 */
function epochOf(databaseEpoch: string, conversationId: string, salt: string | null): string {
  return fingerprint(`${databaseEpoch}/${conversationId}${salt === null ? '' : `/${salt}`}`)
}
