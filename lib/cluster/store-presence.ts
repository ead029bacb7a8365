import type { Database, Queries } from '../storage/database.ts'
import { onRows } from '../storage/on-rows.ts'
import { among, databaseNow, type Micros, sql } from '../storage/sql.ts'

/** The streams of a process have ended: they no longer count for the limit of a user. By node_id. */
export async function endStreams(db: Database, nodeId: string): Promise<void> {
  await db.write((tx) => tx.run(sql`UPDATE node_presence SET streams = 0 WHERE node_id = ${nodeId} AND streams > 0`))
}

/** Deletes what a process knows of users without a stream and not seen for `age`, in microseconds. By node_id. */
export async function deleteUnseen(db: Queries, nodeId: string, age: Micros): Promise<void> {
  await db.run(
    sql`DELETE FROM node_presence
      WHERE node_id = ${nodeId} AND since IS NULL AND coalesce(seen_at,
          0) < ${databaseNow(db.dialect)} - CAST(${age} AS BIGINT)`,
  )
}

/** What a process knows of a user; times as ages, in microseconds, since the clocks of processes may differ. */
export interface PresenceRow {
  user_id: string
  streams: number
  since_age: Micros | null
  status: string | null
  status_age: Micros | null
  seen_age: Micros | null
  /** The age of the oldest stream whose client reads nothing, if one exists. */
  stalled_age: Micros | null
}

const UPSERT_PRESENCE = onRows<PresenceRow & { node_id: string }>(
  {
    node_id: 'text',
    user_id: 'text',
    streams: 'bigint',
    since_age: 'bigint',
    status: 'text',
    status_age: 'bigint',
    seen_age: 'bigint',
    stalled_age: 'bigint',
  },
  (given, dialect) =>
    sql`INSERT INTO node_presence (node_id, user_id, streams, since, status, status_at, seen_at, stalled_at)
     SELECT node_id, user_id, streams, clock.now - since_age, status, clock.now - status_age, clock.now - seen_age,
            clock.now - stalled_age
       FROM (SELECT ${databaseNow(dialect)} AS now) AS clock, ${given} WHERE true
      ORDER BY user_id
     ON CONFLICT (user_id, node_id) DO UPDATE SET
       streams = excluded.streams, since = excluded.since, status = excluded.status,
       status_at = excluded.status_at, seen_at = excluded.seen_at, stalled_at = excluded.stalled_at,
       left_at = NULL`,
)

/** Stores what a process knows of users now. */
export function upsertPresence(db: Queries, node_id: string, rows: readonly PresenceRow[]): Promise<void> {
  return UPSERT_PRESENCE.run(
    db,
    rows.map((row) => ({ ...row, node_id })),
  )
}

/** The streams of a user at one process. */
export type StreamCounts = Pick<PresenceRow, 'user_id' | 'streams' | 'stalled_age'>

const UPDATE_COUNTS = onRows<StreamCounts & { node_id: string }>(
  { node_id: 'text', user_id: 'text', streams: 'bigint', stalled_age: 'bigint' },
  (given, dialect) =>
    sql`UPDATE node_presence SET streams = given.streams, stalled_at = ${databaseNow(dialect)} - given.stalled_age
       FROM ${given} WHERE node_presence.user_id = given.user_id AND node_presence.node_id = given.node_id`,
)

/** Stores the numbers of streams of users that the process has stored before. By primary key. */
export function updateCounts(db: Queries, node_id: string, rows: readonly StreamCounts[]): Promise<void> {
  return UPDATE_COUNTS.run(
    db,
    rows.map((row) => ({ ...row, node_id })),
  )
}

/** What other processes know of these users. `left_age`: the process has stopped or is being removed. By user_id. */
export function listPresence(db: Queries, nodeId: string, userIds: Iterable<string>) {
  return db.all<Omit<PresenceRow, 'stalled_age'> & { left_age: Micros | null }>(
    sql`SELECT p.user_id, p.streams, clock.now - p.since AS since_age, p.status, clock.now - p.status_at AS status_age,
            clock.now - p.seen_at AS seen_age,
            CASE WHEN n.id IS NULL THEN clock.now - coalesce(p.left_at, 0) END AS left_age
       FROM (SELECT ${databaseNow(db.dialect)} AS now) AS clock, node_presence p LEFT JOIN nodes n ON n.id = p.node_id
      WHERE p.user_id ${among(db, userIds)} AND p.node_id <> ${nodeId}`,
  )
}

/** The users that other processes have seen within `lapse`, in microseconds, or that have a stream there. */
export async function listPresent(db: Queries, nodeId: string, lapse: Micros): Promise<string[]> {
  const rows = await db.all<{ user_id: string }>(
    sql`SELECT DISTINCT user_id FROM node_presence
      WHERE node_id <> ${nodeId} AND (since IS NOT NULL
          OR status_at > ${databaseNow(db.dialect)} - CAST(${lapse} AS BIGINT))`,
  )
  return rows.map((row) => row.user_id)
}

/** The processes that run beside one, by a report within a time in microseconds. */
const otherNodes = ({ dialect }: Queries, { node_id, deadAfter }: Others) =>
  sql`p.node_id <> ${node_id} AND EXISTS (
    SELECT 1 FROM nodes n WHERE n.id = p.node_id
        AND n.beat_at >= ${databaseNow(dialect)} - CAST(${deadAfter} AS BIGINT))`

/** Which processes count: all but this one, with a report within `silence`, in microseconds. */
export interface Others {
  node_id: string
  deadAfter: Micros
}

/** The number of open streams of a user at other processes. By user_id. */
export async function countStreams(db: Queries, others: Others, userId: string): Promise<number> {
  const row = await db.get<{ streams: number }>(
    sql`SELECT CAST(coalesce(sum(p.streams), 0) AS BIGINT) AS streams
       FROM node_presence p WHERE p.user_id = ${userId} AND ${otherNodes(db, others)}`,
  )
  return row!.streams
}

/**
 * Takes the place of the user's oldest stream at other processes whose client reads nothing; of two calls one gets it.
 *
 * @param age it was opened earlier than that, in microseconds
 * @returns the process that must end the stream
 */
export async function takeStalled(
  tx: Queries,
  others: Others,
  userId: string,
  age: Micros,
): Promise<string | undefined> {
  const rows = await tx.all<{ node_id: string }>(
    sql`UPDATE node_presence SET streams = streams - 1, stalled_at = NULL
      WHERE user_id = ${userId} AND streams > 0 AND stalled_at < ${databaseNow(tx.dialect)} - CAST(${age} AS BIGINT)
        AND node_id = (SELECT p.node_id FROM node_presence p
                        WHERE p.user_id = ${userId} AND p.stalled_at IS NOT NULL AND ${otherNodes(tx, others)}
                        ORDER BY p.stalled_at, p.node_id LIMIT 1)
     RETURNING node_id`,
  )
  return rows[0]?.node_id
}
