import type { Database } from '../../storage/database.ts'
import { literal, sql } from '../../storage/sql.ts'
import { NEXT_XID } from '../log/restored-dump.ts'
import {
  cutOff,
  firstUnseen,
  formatSnapshot,
  parseNumber,
  parseSnapshot,
  type Snapshot,
  sees,
  seesAll,
  seesRow,
  toParams,
  toWholeSnapshot,
  upTo,
} from '../log/snapshots.ts'
import { COLUMNS, type FeedOrder, type FeedRow, type Place } from './feed-order.ts'
import { findFirstSince } from './first-since.ts'

type PostgresPlace = Exclude<Place, number>

/** With more new rows than this, they are read by id. */
const MAX_ROWS = 5_000

/**
 * The transactions that this statement sees, and the last one of a row of the log, or of a deleted one. A place ends at that
 * one, which is durable. Later transactions may be lost in a crash of the server, which then gives their numbers to others:
 * a place that sees them would have rows that are written only then.
 */
const END = sql`
         pg_current_snapshot()::text AS now,
         (SELECT greatest(
                   (SELECT xid FROM events WHERE xid < ${NEXT_XID} ORDER BY xid DESC LIMIT 1),
                   (SELECT value::xid8 FROM meta WHERE name = 'last_deleted_xid')))::text AS last`

/** How many rows a transaction may have written after those of a later one. */
const MAX_OVERLAP = 1_000

interface NewsRow {
  now: string
  /** `null` if no event has a transaction. */
  last: string | null
  count: number
  rows: string | null
}

/** The new rows, by their transactions: the planner knows nothing of these, and an order by them makes it use their index. */
async function readNews(db: Database, { seen, next }: PostgresPlace, limit: number): Promise<NewsRow> {
  const [xmax, unfinished] = toParams(seen)
  const after = next?.id ?? 0
  const row = (await db.get<NewsRow>(
    sql`WITH latest AS MATERIALIZED (
         SELECT ${COLUMNS}, xid::text FROM events WHERE xid >= ${xmax}::xid8 AND xid < ${NEXT_XID}
          ORDER BY events.xid LIMIT ${literal(MAX_ROWS)}),
       late AS MATERIALIZED (SELECT ${COLUMNS}, xid::text FROM events WHERE xid = ANY (${unfinished}::xid8[]))
     SELECT ${END}, (SELECT count(*) FROM latest) AS count,
         (SELECT json_agg(each)::text
            FROM (SELECT * FROM (SELECT * FROM latest UNION ALL SELECT * FROM late) AS fresh
                   WHERE id > ${after} ORDER BY id LIMIT ${limit}) AS each) AS rows`,
  ))!
  if (row.count < MAX_ROWS) return row
  // Any number of new rows; this may read all rows.
  return (await db.get<NewsRow>(
    sql`SELECT ${END}, 0 AS count,
         (SELECT json_agg(each)::text
            FROM (SELECT ${COLUMNS}, xid::text FROM events
                   WHERE ((xid >= ${xmax}::xid8 AND xid < ${NEXT_XID}) OR xid = ANY (${unfinished}::xid8[]))
                     AND id > ${after}
                   ORDER BY id LIMIT ${limit}) AS each) AS rows`,
  ))!
}

/** The transactions that a snapshot sees, and that have written in a conversation after one that it does not see. */
function listOutOfOrder(db: Database, snapshot: Snapshot): Promise<{ xid: string }[]> {
  const [xmax, unfinished] = toParams(snapshot)
  return db.all(
    sql`WITH unseen AS MATERIALIZED (
         SELECT conversation_id, min(seq) AS seq FROM events
          WHERE ((xid >= ${xmax}::xid8 AND xid < ${NEXT_XID}) OR xid = ANY (${unfinished}::xid8[])) AND seq > 0
          GROUP BY conversation_id)
     SELECT DISTINCT later.xid::text
       FROM unseen JOIN events AS later ON later.conversation_id = unseen.conversation_id AND later.seq > unseen.seq
      WHERE later.xid < ${xmax}::xid8 AND later.xid <> ALL (${unfinished}::xid8[])`,
  )
}

/** Cuts a snapshot off if too many transactions are unfinished. It sees the first events of each conversation. */
async function shorten(db: Database, snapshot: Snapshot): Promise<Snapshot> {
  let { xmax, unfinished } = cutOff(snapshot)
  for (let isInOrder = xmax === snapshot.xmax; !isInOrder; ) {
    const found = await listOutOfOrder(db, { xmax, unfinished })
    unfinished = [...unfinished, ...found.map(({ xid }) => Number(xid))].sort((a, b) => a - b)
    isInOrder = found.length === 0
  }
  return { xmax, unfinished }
}

export function postgresOrder(db: Database): FeedOrder<PostgresPlace> {
  async function head(): Promise<PostgresPlace> {
    const { now, last } = (await db.get<Omit<NewsRow, 'rows'>>(sql`SELECT ${END}`))!
    return { seen: await shorten(db, upTo(toWholeSnapshot(now), Number(last ?? 0))) }
  }

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
    head,
    async placeAt(instant) {
      const first = await findFirstSince(db, instant)
      if (first === undefined) return head()
      // An earlier transaction may have written later.
      const row = await db.get<{ xid: string | null }>(
        sql`SELECT min(xid::text::bigint)::text AS xid
          FROM (SELECT xid FROM events WHERE id >= ${first} ORDER BY id LIMIT ${MAX_OVERLAP}) AS following`,
      )
      return row?.xid ? { seen: { xmax: Number(row.xid), unfinished: [] } } : head()
    },

    // One statement sees one snapshot: rows that it returns, and that the last one did not see, are exactly the new ones.
    async news({ seen, next }, limit) {
      const row = await readNews(db, { seen, ...(next && { next }) }, limit)
      const found = (JSON.parse(row.rows ?? '[]') as FeedRow[]).map((row) => ({ ...row, xid: Number(row.xid) }))
      const whole = toWholeSnapshot(row.now)
      const last = Number(row.last ?? 0)
      // A replica that lacks the last commits has taken over, and their numbers come again.
      if (!next && whole.xmax < seen.xmax)
        return {
          rows: [],
          isLast: true,
          isEarly: found.length > 0,
          place: { seen: await shorten(db, upTo(whole, last)) },
        }
      const now = next?.sees ?? (await shorten(db, upTo(whole, Math.max(last, seen.xmax - 1))))
      if (!next && now.xmax < seen.xmax) return { rows: [], isLast: true, isEarly: found.length > 0, place: { seen } }
      const isWhole = found.length < limit
      const rows = found.filter((row) => sees(now, row.xid))
      return {
        rows: rows.map((row) => [row, { seen, next: { sees: now, id: row.id } }]),
        place: isWhole ? { seen: now } : { seen, next: { sees: now, id: found.at(-1)?.id ?? 0 } },
        isLast: isWhole && next === undefined,
        isEarly: rows.length < found.length,
      }
    },

    isUpTo({ seen, next }) {
      return next ? sql`(${seesRow(seen)} OR (${seesRow(next.sees)} AND e.id <= ${next.id}))` : seesRow(seen)
    },
    includes: ({ seen, next }, { id, xid = null }) =>
      sees(seen, xid) || (next !== undefined && sees(next.sees, xid) && id <= next.id),
    isAfter: (place, other) => (place.next?.sees ?? place.seen).xmax > other.seen.xmax,
    isWithin(place, { seen, next }) {
      if (seesAll(seen, (place.next ?? { sees: place.seen }).sees) && seesAll(seen, place.seen)) return true
      if (!next || !seesAll(seen, place.seen)) return false
      return !place.next || (seesAll(next.sees, place.next.sees) && place.next.id <= next.id)
    },
    earliest: (places) => ({
      seen: { xmax: Math.min(...places.map(({ seen }) => firstUnseen(seen))), unfinished: [] },
    }),
    isFuture: async ({ seen, next }) => (next?.sees ?? seen).xmax > toWholeSnapshot(await db.changeToken()).xmax,
    // The oldest events are deleted first, by id.
    async isExpired({ seen, next }) {
      const row = await db.get<{ xid: string | null; first: number | null }>(
        sql`SELECT (SELECT value FROM meta WHERE name = 'last_deleted_xid') AS xid, (SELECT min(id)
              FROM events) AS first`,
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
