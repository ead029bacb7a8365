import type { Database } from '../../storage/database.ts'
import { type Micros, type Sql, sql } from '../../storage/sql.ts'
import { parseNumber } from '../log/event-ids.ts'
import type { EventRow } from '../log/log.ts'
import type { Snapshot } from '../log/snapshots.ts'
import { findFirstSince } from './first-since.ts'

/** A row of the log, with its number in all conversations. */
export interface FeedRow extends EventRow {
  id: number
  /** The transaction, on PostgreSQL. */
  xid?: number | null
}

/**
 * A place in the order of the events of all conversations: which of them a reader has.
 *
 * On SQLite these are the events up to an id, since it commits one transaction after another. On PostgreSQL they are the
 * events that a snapshot sees, and, of those that the next snapshot sees as well, the ones up to an id.
 */
export type Place = number | { seen: Snapshot; next?: { sees: Snapshot; id: number } }

/** Some rows after a place, each with the place after it, and whether there are no more at present. */
export interface News {
  rows: [row: FeedRow, place: Place][]
  place: Place
  isLast: boolean
  /** Whether there are rows already that cannot be in order yet: many transactions before them are unfinished. */
  isEarly: boolean
}

/** The order of the events of all conversations in one of the two databases. */
export interface FeedOrder<P extends Place> {
  /** Part of the name of the history: ids of another kind of order are unknown. */
  name: string
  format(place: P): string
  /** @returns `undefined` for a text of another form */
  parse(text: string): P | undefined
  /** The present end. */
  head(): Promise<P>
  /** The place before the first event from an instant on; the present end without one. */
  placeAt(instant: Micros): Promise<P>
  /** Up to `limit` rows after a place, in order. */
  news(place: P, limit: number): Promise<News>
  /** The condition that the row `e` is one of those up to a place. */
  isUpTo(place: P): Sql
  /** Whether a row is one of those up to a place. */
  includes(place: P, row: FeedRow): boolean
  /** Whether a place is after another one in this database. */
  isAfter(place: P, other: P): boolean
  /** Whether each row up to a place is one of those up to another. */
  isWithin(place: P, other: P): boolean
  /** A place that is before, or is, each of these. */
  earliest(places: [P, ...P[]]): P
  /** Whether a place is one that this database has not come to. */
  isFuture(place: P): Promise<boolean>
  /** Whether events after a place have been deleted because of their age. */
  isExpired(place: P): Promise<boolean>
  /** The way between two places, in steps within each of which the ids are the order. */
  steps(from: P, to: P): [from: P, to: P][]
  /** The place, within a step, after the event with an id. */
  within(from: P, to: P, id: number): P
}

export const COLUMNS = sql`id, seq, conversation_id, type, message_id, user_id, detail, created_at, for_user_id`

export function sqliteOrder(db: Database): FeedOrder<number> {
  async function head(): Promise<number> {
    const row = await db.get<{ seq: number }>(sql`SELECT seq FROM sqlite_sequence WHERE name = 'events'`)
    return row?.seq ?? 0
  }

  return {
    name: 'feed',
    format: String,
    parse: parseNumber,
    head,
    async placeAt(instant) {
      const first = await findFirstSince(db, instant)
      return first === undefined ? head() : first - 1
    },
    async news(place, limit) {
      const rows = await db.all<FeedRow>(
        sql`SELECT ${COLUMNS} FROM events WHERE id > ${place} ORDER BY id LIMIT ${limit}`,
      )
      return {
        rows: rows.map((row) => [row, row.id]),
        place: rows.at(-1)?.id ?? place,
        isLast: rows.length < limit,
        isEarly: false,
      }
    },
    isUpTo: (place) => sql`e.id <= ${place}`,
    includes: (place, row) => row.id <= place,
    isAfter: (place, other) => place > other,
    isWithin: (place, other) => place <= other,
    earliest: (places) => Math.min(...places),
    isFuture: async (place) => place > (await head()),
    async isExpired(place) {
      const row = await db.get<{ value: string }>(sql`SELECT value FROM meta WHERE name = 'last_deleted_id'`)
      return place < Number(row?.value ?? 0)
    },
    steps: (from, to) => [[from, to]],
    within: (_from, _to, id) => id,
  }
}
