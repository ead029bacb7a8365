import type { Database, Queries } from '../storage/database.ts'
import { onRows } from '../storage/on-rows.ts'
import { databaseNow, isOneOf, jsonList, type Micros } from '../storage/sql.ts'

/** The streams of a process have ended: they no longer count for the limit of a user. By node_id. */
export async function endStreams(db: Database, nodeId: string): Promise<void> {
  await db.write((tx) => tx.run('UPDATE node_presence SET streams = 0 WHERE node_id = ? AND streams > 0', nodeId))
}

/** Deletes what a process knows of the users without a stream whom it has not seen for `age`, in microseconds. By node_id. */
export async function deleteUnseen(db: Queries, nodeId: string, age: Micros): Promise<void> {
  await db.run(
    `DELETE FROM node_presence
      WHERE node_id = ? AND since IS NULL AND coalesce(seen_at, 0) < ${databaseNow(db.dialect)} - CAST(? AS BIGINT)`,
    nodeId,
    age,
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
  },
  (given, dialect) =>
    `INSERT INTO node_presence (node_id, user_id, streams, since, status, status_at, seen_at)
     SELECT node_id, user_id, streams, clock.now - since_age, status, clock.now - status_age, clock.now - seen_age
       FROM (SELECT ${databaseNow(dialect)} AS now) AS clock, ${given} WHERE true
      ORDER BY user_id
     ON CONFLICT (user_id, node_id) DO UPDATE SET
       streams = excluded.streams, since = excluded.since, status = excluded.status,
       status_at = excluded.status_at, seen_at = excluded.seen_at, left_at = NULL`,
)

/** Stores what a process knows of users now. */
export function upsertPresence(db: Queries, node_id: string, rows: readonly PresenceRow[]): Promise<void> {
  return UPSERT_PRESENCE.run(
    db,
    rows.map((row) => ({ ...row, node_id })),
  )
}

/** What other processes know of these users. `left_age`: the process has stopped or is being removed. By user_id. */
export function listPresence(db: Queries, nodeId: string, userIds: Iterable<string>) {
  return db.all<PresenceRow & { left_age: Micros | null }>(
    `SELECT p.user_id, p.streams, clock.now - p.since AS since_age, p.status, clock.now - p.status_at AS status_age,
            clock.now - p.seen_at AS seen_age,
            CASE WHEN n.id IS NULL THEN clock.now - coalesce(p.left_at, 0) END AS left_age
       FROM (SELECT ${databaseNow(db.dialect)} AS now) AS clock, node_presence p LEFT JOIN nodes n ON n.id = p.node_id
      WHERE p.user_id ${isOneOf(db.dialect)} AND p.node_id <> ?`,
    jsonList(userIds),
    nodeId,
  )
}

/** The users that other processes have seen within `lapse`, in microseconds, or who have a stream there. */
export async function listPresent(db: Queries, nodeId: string, lapse: Micros): Promise<string[]> {
  const rows = await db.all<{ user_id: string }>(
    `SELECT DISTINCT user_id FROM node_presence
      WHERE node_id <> ? AND (since IS NOT NULL OR status_at > ${databaseNow(db.dialect)} - CAST(? AS BIGINT))`,
    nodeId,
    lapse,
  )
  return rows.map((row) => row.user_id)
}

/** The number of open streams of a user at other processes. By user_id. */
export async function countStreams(db: Queries, nodeId: string, userId: string): Promise<number> {
  const row = await db.get<{ streams: number }>(
    `SELECT CAST(coalesce(sum(p.streams), 0) AS BIGINT) AS streams
       FROM node_presence p JOIN nodes n ON n.id = p.node_id WHERE p.user_id = ? AND p.node_id <> ?`,
    userId,
    nodeId,
  )
  return row!.streams
}
