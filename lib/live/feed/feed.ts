import { fingerprint } from '../../core/ids.ts'
import type { Database, Queries } from '../../storage/database.ts'
import { among, amongNumbers, sql } from '../../storage/sql.ts'
import { type FeedOrder, type FeedRow, type Place, sqliteOrder } from './feed-order.ts'
import { postgresOrder } from './postgres-order.ts'

/** The events of all conversations. */
export type Feed = ReturnType<typeof createFeed>

/** The events of a conversation from one number to another. */
export interface Range {
  id: string
  from: number
  to: number
}

/** Reads the events of all conversations, from a place on or of some conversations between two places. */
export function createFeed(db: Database) {
  const order = (db.dialect === 'sqlite' ? sqliteOrder(db) : postgresOrder(db)) as FeedOrder<Place>

  return {
    ...order,

    /** Identifies the history: a restored backup has another one. */
    async epoch(): Promise<string> {
      const row = await db.get<{ value: string }>(sql`SELECT value FROM meta WHERE name = 'epoch'`)
      return fingerprint(`${row!.value}/${order.name}`)
    },

    /** The rows with these numbers that are still stored. */
    listNumbered: (numbers: readonly number[]) => listNumbered(db, numbers),
    listMissed: (conversationIds: Iterable<string>, from: Place, to: Place) =>
      listMissed(db, order, conversationIds, from, to),
    listBetween: (userId: string, between: { from: Place; to: Place; afterId: number; limit: number }) =>
      listBetween(db, order, { userId, ...between }),
    listRanges: (ranges: Range[]) => listRanges(db, ranges),
    listOwnChanges: (userId: string, from: Place, to: Place, limit: number) =>
      listOwnChanges(db, order, { userId, from, to, limit }),
  }
}

const COLUMNS = sql`e.id, e.seq, e.conversation_id, e.type, e.message_id, e.user_id, e.detail, e.created_at,
  e.for_user_id`

/** By primary key. */
function listNumbered(db: Queries, numbers: readonly number[]): Promise<FeedRow[]> {
  return db.all<FeedRow>(sql`SELECT ${COLUMNS} FROM events e WHERE e.id ${amongNumbers(db, numbers)}`)
}

/** The events of these conversations between two places. Reads, of each, the ones after `from`, by its index. */
async function listMissed(
  db: Queries,
  order: FeedOrder<Place>,
  conversationIds: Iterable<string>,
  from: Place,
  to: Place,
): Promise<Range[]> {
  const last = (place: Place) =>
    sql`(SELECT e.seq FROM events e WHERE e.conversation_id = c.id AND e.seq > 0 AND ${order.isUpTo(place)}
          ORDER BY e.seq DESC LIMIT 1)`
  const rows = await db.all<{ id: string; seen: number | null; first: number | null; due: number | null }>(
    sql`SELECT c.id, ${last(from)} AS seen, ${last(to)} AS due,
            (SELECT min(seq) FROM events WHERE conversation_id = c.id AND seq > 0) AS first
       FROM conversations c WHERE c.id ${among(db, conversationIds)}`,
  )
  return rows.flatMap(({ id, seen, first, due }) => {
    const from = seen === null ? (first ?? 1) : seen + 1
    return due !== null && from <= due ? [{ id, from, to: due }] : []
  })
}

/** The rows of these ranges, by id. By (conversation_id, seq). */
function listRanges(db: Queries, ranges: Range[]): Promise<FeedRow[]> {
  const list = JSON.stringify(ranges)
  const [given, id, from, to] =
    db.dialect === 'sqlite'
      ? [
          sql`json_each(${list}) AS given`,
          sql`given.value ->> 'id'`,
          sql`given.value ->> 'from'`,
          sql`given.value ->> 'to'`,
        ]
      : [
          sql`json_to_recordset(${list}) AS given(id text, "from" bigint, "to" bigint)`,
          sql`given.id`,
          sql`given."from"`,
          sql`given."to"`,
        ]
  return db.all<FeedRow>(
    sql`SELECT ${COLUMNS} FROM ${given} CROSS JOIN events e
      WHERE e.conversation_id = ${id} AND e.seq >= ${from} AND e.seq <= ${to}
      ORDER BY e.id`,
  )
}

/**
 * Up to `limit` events of all conversations between two places, after one of them, by id: of the private ones those for a
 * user. By primary key.
 */
function listBetween(
  db: Queries,
  order: FeedOrder<Place>,
  { userId, from, to, afterId, limit }: { userId: string; from: Place; to: Place; afterId: number; limit: number },
): Promise<FeedRow[]> {
  return db.all<FeedRow>(
    sql`SELECT ${COLUMNS} FROM events e
      WHERE e.id > ${afterId} AND NOT ${order.isUpTo(from)} AND ${order.isUpTo(to)}
          AND (e.for_user_id IS NULL OR e.for_user_id = ${userId})
      ORDER BY e.id LIMIT ${limit}`,
  )
}

/**
 * Up to `limit` changes of a user's own memberships, and private events for the user, between two places, by id.
 * By (user_id, id), and by (for_user_id, id).
 */
function listOwnChanges(
  db: Queries,
  order: FeedOrder<Place>,
  { userId, from, to, limit }: { userId: string; from: Place; to: Place; limit: number },
): Promise<FeedRow[]> {
  return db.all<FeedRow>(
    sql`SELECT ${COLUMNS} FROM events e
      WHERE e.type = 'membership.changed' AND e.user_id = ${userId} AND NOT ${order.isUpTo(from)}
          AND ${order.isUpTo(to)}
     UNION ALL
     SELECT ${COLUMNS} FROM events e
      WHERE e.for_user_id = ${userId} AND NOT ${order.isUpTo(from)} AND ${order.isUpTo(to)}
      ORDER BY id LIMIT ${limit}`,
  )
}
