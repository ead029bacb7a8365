import type { PersistedEvent } from '../context.ts'
import { fingerprint } from '../core/ids.ts'
import type { Database, Queries } from '../storage/database.ts'
import { jsonList, listOf, type Micros } from '../storage/sql.ts'
import { eventId, type Head } from './event-ids.ts'

/** An event to be logged. It names its message or member; the rest is read from where it lives. */
export interface NewEvent {
  type: PersistedEvent['type']
  message_id?: string
  user_id?: string
  detail?: Record<string, string | number>
  /** What the event says, when whoever logs it has that at hand: then it need not be read again. */
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

/** A line of a log as it goes out. */
export interface NumberedEvent {
  seq: number
  conversation_id: string
  at: Micros
  /** Missing when what it is about is gone. */
  event?: PersistedEvent
}

/** What a transaction adds to the log of a conversation, whose clock it moves on to `at`. */
export interface Addition {
  conversation_id: string
  at: Micros
  events: NewEvent[]
  /** By how much the number of its messages changes. */
  messages: number
}

/**
 * Adds to the logs of conversations and moves their clocks on. The numbers are taken under the row of each conversation,
 * so they follow each other without gaps in the order of commits.
 *
 * @returns the last number that each conversation had before, if it exists
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
  for (const { conversation_id, at, events, messages } of additions) {
    const row = await tx.get<Appended>(
      `UPDATE conversations SET last_seq = last_seq + ?, clock = max(clock, ?), message_count = message_count + ?
        WHERE id = ? RETURNING id, last_seq - ? AS before`,
      events.length,
      at,
      messages,
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

/** The same as one statement: on PostgreSQL each costs a round trip, while others wait for the conversation. */
function appendAll(tx: Queries, additions: Addition[]): Promise<Appended[]> {
  const heads = additions.map(({ conversation_id, at, events, messages }) => {
    return { conversation_id, at, added: events.length, messages }
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
              message_count = message_count + given.messages
         FROM json_to_recordset(?) AS given(conversation_id text, at bigint, added bigint, messages bigint)
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
 * stays: it says how far the log has come.
 *
 * @returns how many; fewer than `limit` when there are no more
 */
export function deleteEventsBefore(tx: Queries, before: Micros, limit: number): Promise<number> {
  // By primary key from the first line on, however many there are: ids rise with time.
  return tx.run(
    `DELETE FROM events WHERE id IN (
       SELECT id FROM (SELECT id, created_at FROM events ORDER BY id LIMIT ?) AS oldest
        WHERE created_at < ? AND id < (SELECT max(id) FROM events))`,
    limit,
    before,
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

/** Up to `limit` lines of all conversations after `seq`, in the order of the feed. By primary key, or feed number. */
export function listFeed(db: Queries, seq: number, limit: number): Promise<EventRow[]> {
  const number = db.dialect === 'sqlite' ? 'id' : 'feed'
  return db.all<EventRow>(
    `SELECT ${number} AS seq, conversation_id, type, message_id, user_id, detail, created_at FROM events
      WHERE ${number} > ?
      ORDER BY ${number}
      LIMIT ?`,
    seq,
    limit,
  )
}

/** Where the feed stands. Its last number is one that was given out: the event may be deleted with its conversation. */
export async function findFeedHead(db: Queries): Promise<Head> {
  const [number, last] =
    db.dialect === 'sqlite'
      ? ['id', "coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'events'), 0)"]
      : ['feed', `greatest(${LAST_FEED}, (SELECT max(feed) FROM events), 0)`]
  const row = await db.get<{ last: number; first: number; epoch: string }>(
    `SELECT ${last} AS last, (SELECT coalesce(min(${number}), 0) FROM events) AS first,
            (SELECT value FROM meta WHERE name = 'epoch') AS epoch`,
  )
  return { last: row!.last, first: row!.first, epoch: epochOf(row!.epoch, 'feed') }
}

/** Any number: who holds it numbers the feed. */
const FEED_LOCK = 7_201_995

/** How many lines are numbered at a time. */
const FEED_PAGE = 1_000

/** The last number that was given out as `feed`; NULL before the first, and below the highest after an earlier version. */
const LAST_FEED = "(SELECT CAST(value AS BIGINT) FROM meta WHERE name = 'last_feed')"

/**
 * Gives lines that have none their place in the feed, on PostgreSQL. Within a conversation their ids rise in the order
 * of its log, and whoever sees a line sees those before it.
 *
 * @returns whether there may be more
 */
export async function numberFeed(db: Database): Promise<boolean> {
  if (!(await db.get('SELECT 1 AS found FROM events WHERE feed IS NULL LIMIT 1'))) return false
  return db.write(async (tx) => {
    await tx.get('SELECT pg_advisory_xact_lock(?)', FEED_LOCK)
    const numbered = await tx.run(
      `UPDATE events SET feed = numbered.feed
         FROM (SELECT id, nextval('event_feed') AS feed
                 FROM (SELECT id FROM events WHERE feed IS NULL ORDER BY id LIMIT ?) AS fresh) AS numbered
        WHERE events.id = numbered.id`,
      FEED_PAGE,
    )
    if (numbered > 0)
      await tx.run(
        `INSERT INTO meta (name, value) SELECT 'last_feed', CAST(max(feed) AS TEXT) FROM events
         ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value`,
      )
    return numbered === FEED_PAGE
  })
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

/** Names one history, of a conversation or of all, in one database: a restored backup has another one. */
function epochOf(databaseEpoch: string, history: string): string {
  return fingerprint(`${databaseEpoch}/${history}`)
}
