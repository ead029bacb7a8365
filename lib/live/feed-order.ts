import type { Database, Primitive } from '../storage/database.ts'
import type { EventRow } from './log.ts'
import { NEXT_XID } from './restored-dump.ts'
import {
  firstUnseen,
  formatSnapshot,
  parseNumber,
  parseSnapshot,
  type Snapshot,
  sees,
  seesSql,
  toParams,
  toSnapshot,
  toWholeSnapshot,
} from './snapshots.ts'

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
  /** Up to `limit` rows after a place, in order. */
  news(place: P, limit: number): Promise<News>
  /** The SQL condition that the row `e` is one of those up to a place. */
  isUpTo(place: P): [sql: string, ...params: Primitive[]]
  /** Whether a place is after another one in this database. */
  isAfter(place: P, other: P): boolean
  /** Whether events after a place have been deleted because of their age. */
  isExpired(place: P): Promise<boolean>
  /** The way between two places, in steps within each of which the ids are the order. */
  steps(from: P, to: P): [from: P, to: P][]
  /** The place, within a step, after the event with an id. */
  within(from: P, to: P, id: number): P
}

const COLUMNS = 'id, seq, conversation_id, type, message_id, user_id, detail, created_at'

export function sqliteOrder(db: Database): FeedOrder<number> {
  return {
    name: 'feed',
    format: String,
    parse: (text) => (/^(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : undefined),
    async head() {
      const row = await db.get<{ seq: number }>("SELECT seq FROM sqlite_sequence WHERE name = 'events'")
      return row?.seq ?? 0
    },
    async news(place, limit) {
      const rows = await db.all<FeedRow>(`SELECT ${COLUMNS} FROM events WHERE id > ? ORDER BY id LIMIT ?`, place, limit)
      return {
        rows: rows.map((row) => [row, row.id]),
        place: rows.at(-1)?.id ?? place,
        isLast: rows.length < limit,
        isEarly: false,
      }
    },
    isUpTo: (place) => ['e.id <= ?', place],
    isAfter: (place, other) => place > other,
    async isExpired(place) {
      const row = await db.get<{ first: number | null }>('SELECT min(id) AS first FROM events')
      return row?.first ? place < row.first - 1 : false
    },
    steps: (from, to) => [[from, to]],
    within: (_from, _to, id) => id,
  }
}

type PostgresPlace = Exclude<Place, number>

/** With more new rows than this, they are read by id. */
const MOST = 5_000

/** The new rows, by their transactions: the planner knows nothing of these, and an order by them makes it use their index. */
const NEWS = `
  WITH latest AS MATERIALIZED (
         SELECT ${COLUMNS}, xid::text FROM events WHERE xid >= ?::xid8 AND xid < ${NEXT_XID}
          ORDER BY events.xid LIMIT ${MOST}),
       late AS MATERIALIZED (SELECT ${COLUMNS}, xid::text FROM events WHERE xid = ANY (?::xid8[]))
  SELECT pg_current_snapshot()::text AS now, (SELECT count(*) FROM latest) AS count,
         (SELECT json_agg(each)::text
            FROM (SELECT * FROM (SELECT * FROM latest UNION ALL SELECT * FROM late) AS fresh
                   WHERE id > ? ORDER BY id LIMIT ?) AS each) AS rows`

/** The same of any number, which may read all rows. */
const MANY_NEWS = `
  SELECT pg_current_snapshot()::text AS now, 0 AS count,
         (SELECT json_agg(each)::text
            FROM (SELECT ${COLUMNS}, xid::text FROM events
                   WHERE ((xid >= ?::xid8 AND xid < ${NEXT_XID}) OR xid = ANY (?::xid8[])) AND id > ?
                   ORDER BY id LIMIT ?) AS each) AS rows`

interface NewsRow {
  now: string
  count: number
  rows: string | null
}

async function readNews(db: Database, params: Primitive[]): Promise<NewsRow> {
  const row = (await db.get<NewsRow>(NEWS, ...params))!
  return row.count < MOST ? row : (await db.get<NewsRow>(MANY_NEWS, ...params))!
}

export function postgresOrder(db: Database): FeedOrder<PostgresPlace> {
  return {
    name: 'commits',
    format: ({ seen, next }) =>
      next ? `${formatSnapshot(seen)}-${formatSnapshot(next.sees)}-${next.id.toString(36)}` : formatSnapshot(seen),
    parse(text) {
      const [, seen, next, id] = /^([0-9a-z_]+)(?:-([0-9a-z_]+)-([0-9a-z]+))?$/.exec(text) ?? []
      if (seen === undefined) return undefined
      const place = { seen: parseSnapshot(seen) }
      if (next === undefined) return place
      const sees = parseSnapshot(next)
      return sees.xmax < place.seen.xmax ? undefined : { ...place, next: { sees, id: parseNumber(id!) } }
    },
    head: async () => ({ seen: toSnapshot(await db.changeToken()) }),

    // One statement sees one snapshot: rows that it returns, and that the last one did not see, are exactly the new ones.
    async news({ seen, next }, limit) {
      const row = await readNews(db, [...toParams(seen), next?.id ?? 0, limit])
      const found = (JSON.parse(row.rows ?? '[]') as FeedRow[]).map((each) => ({ ...each, xid: Number(each.xid) }))
      const now = next?.sees ?? toSnapshot(row.now)
      // Cut off before the place, or of a replica that took over and lacks the last commits, whose numbers come again.
      if (!next && now.xmax < seen.xmax)
        return {
          ...{ rows: [], isLast: true, isEarly: found.length > 0 },
          place: { seen: toWholeSnapshot(row.now).xmax < seen.xmax ? now : seen },
        }
      const isWhole = found.length < limit
      const rows = found.filter((each) => sees(now, each.xid))
      const last = found.at(-1)?.id ?? 0
      return {
        rows: rows.map((each) => [each, { seen, next: { sees: now, id: each.id } }]),
        place: isWhole ? { seen: now } : { seen, next: { sees: now, id: last } },
        isLast: isWhole && next === undefined,
        isEarly: rows.length < found.length,
      }
    },

    isUpTo({ seen, next }) {
      const [sql, ...params] = seesSql(seen)
      if (!next) return [sql, ...params]
      const [nextSql, ...nextParams] = seesSql(next.sees)
      return [`(${sql} OR (${nextSql} AND e.id <= ?))`, ...params, ...nextParams, next.id]
    },
    isAfter: (place, other) => (place.next?.sees ?? place.seen).xmax > other.seen.xmax,
    // The oldest events are deleted first, by id.
    async isExpired({ seen, next }) {
      const row = await db.get<{ xid: string | null; first: number | null }>(
        `SELECT (SELECT value FROM meta WHERE name = 'last_deleted_xid') AS xid, (SELECT min(id) FROM events) AS first`,
      )
      const deleted = Number(row!.xid ?? 0)
      if (deleted < firstUnseen(seen)) return false
      return !next || deleted >= firstUnseen(next.sees) || (row!.first ?? 0) - 1 > next.id
    },
    steps: stepsBetween,
    within: (from, to, id) => ({ seen: from.seen, next: { sees: to.seen, id } }),
  }
}

/** What is left until the next snapshot, and from there on. */
function stepsBetween({ seen, next }: PostgresPlace, to: PostgresPlace): [PostgresPlace, PostgresPlace][] {
  if (!next) return [[{ seen }, to]]
  const middle = { seen: next.sees }
  return [
    [{ seen, next }, middle],
    [middle, to],
  ]
}
