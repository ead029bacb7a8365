import type { PersistedEvent, UsedTokens } from '../../context.ts'
import type { Primitive, Queries } from '../../storage/database.ts'
import { join, type Micros, type Sql, sql, withParams } from '../../storage/sql.ts'
import type { FeedRow } from '../feed/feed-order.ts'
import type { EventRow } from './log.ts'

/** A new event of the log. It refers to its message or user, whose text is read from its own table. */
export interface NewEvent {
  type: PersistedEvent['type']
  message_id?: string
  user_id?: string
  detail?: Record<string, string | number>
  /** The payload, if the caller has it: then the hub does not read it from the database. */
  payload?: PersistedEvent['payload']
  /** What an answer has used that ends with it: stored in its own table. */
  used?: UsedTokens
  /** The state in which a call of a tool has ended by it. */
  ended_call?: string
}

/** The events that a transaction adds to the log of a conversation, whose clock it sets to `at`. */
export interface Addition {
  conversation_id: string
  at: Micros
  events: NewEvent[]
  /** By how much the number of its messages changes. */
  messages: number
  /** By how much the number of its roots changes. */
  roots: number
  /** The time of its latest new message, if there is one. */
  active_at?: Micros
}

/** What a transaction has appended. */
export interface Appended {
  /** The last number of each existing conversation before the new events. */
  heads: Map<string, number>
  /** The new lines, by id. */
  rows: FeedRow[]
}

/**
 * Appends events to the logs of conversations and advances their clocks. The numbers are taken under a lock on the row
 * of each conversation, so they have no gaps and follow the order of commits.
 */
export async function appendEvents(tx: Queries, additions: Addition[]): Promise<Appended> {
  if (additions.length === 0) return { heads: new Map(), rows: [] }
  return tx.dialect === 'sqlite' ? appendEach(tx, additions) : appendAll(tx, additions)
}

async function appendEach(tx: Queries, additions: Addition[]): Promise<Appended> {
  const appended: Appended = { heads: new Map(), rows: [] }
  for (const addition of additions) {
    const { conversation_id, at, events, messages, roots, active_at = 0 } = addition
    const head = await tx.get<{ before: number; last_id: number | null }>(
      sql`UPDATE conversations SET last_seq = last_seq + ${events.length}, clock = max(clock, ${at}),
            message_count = message_count + ${messages}, root_count = root_count + ${roots},
              counted_seq = counted_seq + ${events.length},
              active_at = max(coalesce(active_at, created_at), ${active_at})
        WHERE id = ${conversation_id} RETURNING last_seq - ${events.length} AS before,
              (SELECT seq FROM sqlite_sequence WHERE name = 'events') AS last_id`,
    )
    if (!head) continue
    appended.heads.set(conversation_id, head.before)
    if (events.length === 0) continue
    const lines = linesOf(addition, head.before)
    await tx.run(
      sql`INSERT INTO events (conversation_id, seq, type, message_id, user_id, detail, created_at)
       VALUES ${join(lines.map(valuesOf), ', ')}`,
    )
    // As SQLite numbers them, one after another: to have them returned takes as long as to insert them.
    const first = (head.last_id ?? 0) + 1
    appended.rows.push(...lines.map((line, index) => ({ ...line, id: first + index })))
  }
  return appended
}

const valuesOf = ({ conversation_id, seq, type, message_id, user_id, detail, created_at }: EventRow) =>
  sql`(${conversation_id}, ${seq}, ${type}, ${message_id}, ${user_id}, ${detail}, ${created_at})`

/** A conversation with the number before its new lines, or a line with its number. */
interface AppendedRow {
  conversation_id: string
  seq: number
  id: number | null
  xid: string | null
}

/** Appends in one statement: on PostgreSQL each costs a round trip, during which others wait for the conversation. */
const appendAll = (tx: Queries, additions: Addition[]) => append(tx, APPEND, [], additions)

/** A statement that appends events as one of several steps, with the parameters of the steps before. */
export type AppendAfter = (tx: Queries, params: readonly Primitive[], additions: Addition[]) => Promise<Appended>

/**
 * Makes a statement of PostgreSQL that takes steps, and appends events to those logs for which the steps allow it.
 *
 * @param steps the queries of a WITH; one is `allowed`, with the column `conversation_id`
 */
export function appendAfter(steps: Sql): AppendAfter {
  const statement = appending(sql`${steps},`, sql`JOIN allowed ON allowed.conversation_id = given.conversation_id`)
  return (tx, params, additions) => append(tx, statement, params, additions)
}

async function append(
  tx: Queries,
  statement: Sql,
  params: readonly Primitive[],
  additions: Addition[],
): Promise<Appended> {
  const given = additions.map(({ conversation_id, at, events, messages, roots, active_at = 0 }) => {
    return { conversation_id, at, added: events.length, messages, roots, active: active_at }
  })
  const lines = new Map(additions.map((addition) => [addition.conversation_id, linesOf(addition, 0)]))
  const values = [JSON.stringify(given), JSON.stringify([...lines.values()].flat())]
  const rows = await tx.all<AppendedRow>(withParams(statement, [...params, ...values]))
  return toAppended(lines, rows)
}

const appending = (steps: Sql, allowed: Sql) =>
  sql`WITH ${steps} heads AS (
       UPDATE conversations SET last_seq = last_seq + given.added, clock = greatest(clock, given.at),
              message_count = message_count + given.messages, root_count = root_count + given.roots,
              counted_seq = counted_seq + given.added,
              active_at = greatest(active_at, created_at, given.active)
         FROM json_to_recordset(${null}) AS given(conversation_id text, at bigint, added bigint,
             messages bigint, roots bigint, active bigint) ${allowed}
        WHERE conversations.id = given.conversation_id
        RETURNING conversations.id, last_seq - given.added AS before),
     added AS (
       INSERT INTO events (conversation_id, seq, type, message_id, user_id, detail, created_at)
       SELECT heads.id, heads.before + line.seq, line.type, line.message_id, line.user_id, line.detail, line.created_at
         FROM json_to_recordset(${null}) AS line(conversation_id text, seq bigint, type text, message_id text,
                                           user_id text, detail text, created_at bigint)
         JOIN heads ON heads.id = line.conversation_id
        ORDER BY heads.id, line.seq
        RETURNING conversation_id, seq, id, xid)
     SELECT id AS conversation_id, before AS seq, NULL::bigint AS id, NULL AS xid FROM heads
      UNION ALL SELECT conversation_id, seq, id, xid::text FROM added`
const APPEND = appending(sql``, sql``)

/** @param lines of each conversation, with numbers from 1 */
function toAppended(lines: Map<string, EventRow[]>, appended: AppendedRow[]): Appended {
  const heads = new Map(appended.filter(({ id }) => id === null).map((row) => [row.conversation_id, row.seq]))
  const rows = appended.flatMap(({ conversation_id, seq, id, xid }): FeedRow[] => {
    const line = lines.get(conversation_id)![seq - heads.get(conversation_id)! - 1]!
    return id === null ? [] : [{ ...line, seq, id, xid: Number(xid) }]
  })
  return { heads, rows: rows.sort((a, b) => a.id - b.id) }
}

/** The lines of new events after a number. */
function linesOf({ conversation_id, at, events }: Addition, before: number): EventRow[] {
  return events.map(({ type, message_id = null, user_id = null, detail }, index) => {
    const seq = before + 1 + index
    return {
      conversation_id,
      seq,
      type,
      message_id,
      user_id,
      detail: detail ? JSON.stringify(detail) : null,
      created_at: at,
      for_user_id: null,
    }
  })
}
