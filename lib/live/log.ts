import type { PersistedEvent } from '../context.ts'
import { fingerprint } from '../core/ids.ts'
import type { Queries } from '../storage/database.ts'
import { isOneOf, jsonList, type Micros } from '../storage/sql.ts'
import { eventId, type Head } from './event-ids.ts'

/** A new event of the log. It refers to its message or user, whose text is read from its own table. */
export interface NewEvent {
  type: PersistedEvent['type']
  message_id?: string
  user_id?: string
  detail?: Record<string, string | number>
  /** The payload, if the caller has it: then the hub does not read it from the database. */
  payload?: PersistedEvent['payload']
}

/** A line of the log. */
export interface EventRow {
  seq: number
  conversation_id: string
  created_at: Micros
  type: PersistedEvent['type']
  message_id: string | null
  user_id: string | null
  detail: string | null
}

/** A line of a log, with its event. */
export interface NumberedEvent {
  seq: number
  conversation_id: string
  at: Micros
  /** Missing if the subject of the event is deleted. */
  event?: PersistedEvent
}

/** The events that a transaction adds to the log of a conversation, whose clock it sets to `at`. */
export interface Addition {
  conversation_id: string
  at: Micros
  events: NewEvent[]
  /** By how much the number of its messages changes. */
  messages: number
  /** The time of its latest new message, if there is one. */
  active_at?: Micros
}

/**
 * Appends events to the logs of conversations and advances their clocks. The numbers are taken under a lock on the row
 * of each conversation, so they have no gaps and follow the order of commits.
 *
 * @returns the last number of each existing conversation before the new events
 */
export async function appendEvents(tx: Queries, additions: Addition[]): Promise<Map<string, number>> {
  if (additions.length === 0) return new Map()
  const rows = tx.dialect === 'sqlite' ? await appendEach(tx, additions) : await appendAll(tx, additions)
  return new Map(rows.map(({ id, before }) => [id, before]))
}

interface Appended {
  id: string
  before: number
}

async function appendEach(tx: Queries, additions: Addition[]): Promise<Appended[]> {
  const rows: Appended[] = []
  for (const { conversation_id, at, events, messages, active_at = 0 } of additions) {
    const row = await tx.get<Appended>(
      `UPDATE conversations SET last_seq = last_seq + ?, clock = max(clock, ?), message_count = message_count + ?,
              active_at = max(coalesce(active_at, created_at), ?)
        WHERE id = ? RETURNING id, last_seq - ? AS before`,
      events.length,
      at,
      messages,
      active_at,
      conversation_id,
      events.length,
    )
    if (!row) continue
    rows.push(row)
    if (events.length === 0) continue
    await tx.run(
      `INSERT INTO events (conversation_id, seq, type, message_id, user_id, detail, created_at)
       VALUES ${events.map(() => '(?, ?, ?, ?, ?, ?, ?)').join(', ')}`,
      ...events.flatMap((event, index) => [conversation_id, row.before + 1 + index, ...toValues(event), at]),
    )
  }
  return rows
}

/** The same in one statement: on PostgreSQL each costs a round trip, during which others wait for the conversation. */
function appendAll(tx: Queries, additions: Addition[]): Promise<Appended[]> {
  const heads = additions.map(({ conversation_id, at, events, messages, active_at = 0 }) => {
    return { conversation_id, at, added: events.length, messages, active: active_at }
  })
  const lines = additions.flatMap(({ conversation_id, at, events }) =>
    events.map((event, index) => {
      const [type, message_id, user_id, detail] = toValues(event)
      return { conversation_id, place: index + 1, type, message_id, user_id, detail, at }
    }),
  )
  return tx.all<Appended>(
    `WITH heads AS (
       UPDATE conversations SET last_seq = last_seq + given.added, clock = greatest(clock, given.at),
              message_count = message_count + given.messages,
              active_at = greatest(active_at, created_at, given.active)
         FROM json_to_recordset(?) AS given(conversation_id text, at bigint, added bigint, messages bigint, active bigint)
        WHERE conversations.id = given.conversation_id
        RETURNING conversations.id, last_seq - given.added AS before),
     added AS (
       INSERT INTO events (conversation_id, seq, type, message_id, user_id, detail, created_at)
       SELECT heads.id, heads.before + line.place, line.type, line.message_id, line.user_id, line.detail, line.at
         FROM json_to_recordset(?) AS line(conversation_id text, place bigint, type text, message_id text,
                                           user_id text, detail text, at bigint)
         JOIN heads ON heads.id = line.conversation_id
        ORDER BY heads.id, line.place)
     SELECT id, before FROM heads`,
    JSON.stringify(heads),
    JSON.stringify(lines),
  )
}

function toValues({ type, message_id, user_id, detail }: NewEvent) {
  return [type, message_id ?? null, user_id ?? null, detail ? JSON.stringify(detail) : null] as const
}

/** Up to `limit` lines after `seq`, in order. By (conversation_id, seq). */
export function listEvents(db: Queries, conversationId: string, seq: number, limit: number): Promise<EventRow[]> {
  return db.all<EventRow>(
    `SELECT seq, conversation_id, type, message_id, user_id, detail, created_at FROM events
      WHERE conversation_id = ? AND seq > ?
      ORDER BY seq
      LIMIT ?`,
    conversationId,
    seq,
    limit,
  )
}

/**
 * Deletes up to `limit` of the oldest lines of the log, those from before the instant `before`. The newest line of all
 * stays: its number is the end of the log.
 *
 * @returns the number of deleted lines; fewer than `limit` if no more are left
 */
export async function deleteEventsBefore(tx: Queries, before: Micros, limit: number): Promise<number> {
  // Reads the first `limit` lines by primary key, in a log of any length: ids increase with time.
  const deletion = `DELETE FROM events WHERE id IN (
       SELECT id FROM (SELECT id, created_at FROM events ORDER BY id LIMIT ?) AS oldest
        WHERE created_at < ? AND id < (SELECT max(id) FROM events))`
  if (tx.dialect === 'sqlite') return tx.run(deletion, limit, before)
  // A stream can resume only from a snapshot that sees all transactions whose events are deleted.
  const row = await tx.get<{ count: number }>(
    `WITH deleted AS (${deletion} RETURNING xid),
          noted AS (
            INSERT INTO meta (name, value)
            SELECT 'last_deleted_xid', max(xid)::text FROM deleted HAVING max(xid) IS NOT NULL
            ON CONFLICT (name) DO UPDATE
               SET value = greatest(meta.value::xid8, EXCLUDED.value::xid8)::text)
     SELECT count(*) AS count FROM deleted`,
    limit,
    before,
  )
  return Number(row!.count)
}

/** The ends of the log of a conversation; `undefined` if the conversation does not exist. */
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

/** The id of the last event of a conversation: a stream that resumes from it gets exactly the events after this read. */
export async function findPosition(db: Queries, conversationId: string): Promise<string> {
  const row = await db.get<{ last: number; epoch: string }>(
    "SELECT last_seq AS last, (SELECT value FROM meta WHERE name = 'epoch') AS epoch FROM conversations WHERE id = ?",
    conversationId,
  )
  return eventId(epochOf(row!.epoch, conversationId), row!.last)
}

/** The last event number of each of these conversations. */
export function listLastSeqs(
  db: Queries,
  conversationIds: Iterable<string>,
): Promise<{ id: string; last_seq: number }[]> {
  return db.all(`SELECT id, last_seq FROM conversations WHERE id ${isOneOf(db.dialect)}`, jsonList(conversationIds))
}

/** Identifies one history of a conversation in one database: a restored backup has another epoch. */
function epochOf(databaseEpoch: string, history: string): string {
  return fingerprint(`${databaseEpoch}/${history}`)
}
