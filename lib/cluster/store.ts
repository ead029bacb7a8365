import type { Queries } from '../storage/database.ts'
import { databaseNow, isOneOf, jsonList, type Micros } from '../storage/sql.ts'

/** The current time: always the database's, since the clocks of processes may differ. */
const NOW = databaseNow('postgresql')

/** A row of a process. */
export interface NodeRow {
  id: string
  version: string
  started_at: Micros
  beat_at: Micros
  streams: number
}

/** Adds a process; a repeated call changes nothing but its beat. */
export async function insertNode(db: Queries, id: string, version: string): Promise<void> {
  await db.run(
    `INSERT INTO nodes (id, started_at, beat_at, version, streams) VALUES (?, ${NOW}, ${NOW}, ?, 0)
     ON CONFLICT (id) DO UPDATE SET beat_at = excluded.beat_at`,
    id,
    version,
  )
}

/** @returns false if the process has no row any more: others took it for dead */
export async function beat(db: Queries, id: string, streams: number): Promise<boolean> {
  return (await db.run(`UPDATE nodes SET beat_at = ${NOW}, streams = ? WHERE id = ?`, streams, id)) === 1
}

/** The processes with a beat within `silence`, in microseconds: the others are dead, and not removed yet. */
export function listNodes(db: Queries, silence: Micros, limit: number): Promise<NodeRow[]> {
  return db.all<NodeRow>(
    `SELECT id, version, started_at, beat_at, streams FROM nodes
      WHERE beat_at >= ${NOW} - CAST(? AS BIGINT) ORDER BY started_at, id LIMIT ?`,
    silence,
    limit,
  )
}

/**
 * Removes the processes without a beat for `silence`, in microseconds, and what they knew of users; also what processes
 * that have stopped left behind. A concurrent call finds nothing.
 *
 * @returns the users whose presence may differ now
 */
export async function removeDead(db: Queries, silence: Micros, remembered: Micros): Promise<string[]> {
  const rows = await db.all<{ user_id: string }>(
    `WITH dead AS (DELETE FROM nodes WHERE beat_at < ${NOW} - CAST(? AS BIGINT) RETURNING id)
     DELETE FROM node_presence p
      WHERE p.node_id IN (SELECT id FROM dead)
         OR (coalesce(p.left_at, p.seen_at, 0) < ${NOW} - CAST(? AS BIGINT)
             AND NOT EXISTS (SELECT 1 FROM nodes n WHERE n.id = p.node_id))
     RETURNING p.user_id`,
    silence,
    remembered,
  )
  return [...new Set(rows.map((row) => row.user_id))]
}

/** Removes a process that stops. Its users stay for a moment. @returns those with an open stream */
export async function removeNode(db: Queries, id: string): Promise<string[]> {
  await db.run('DELETE FROM nodes WHERE id = ?', id)
  const rows = await db.all<{ user_id: string }>(
    `UPDATE node_presence SET streams = 0, left_at = ${NOW} WHERE node_id = ? AND left_at IS NULL
     RETURNING user_id`,
    id,
  )
  return rows.map((row) => row.user_id)
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

/** Stores what a process knows of users now. */
export async function upsertPresence(db: Queries, nodeId: string, rows: readonly PresenceRow[]): Promise<void> {
  await db.run(
    `INSERT INTO node_presence (node_id, user_id, streams, since, status, status_at, seen_at)
     SELECT ?, r.user_id, r.streams, clock.now - r.since_age, r.status, clock.now - r.status_age, clock.now - r.seen_age
       FROM (SELECT ${NOW} AS now) AS clock,
            jsonb_to_recordset(CAST(? AS jsonb)) AS r(
              user_id TEXT, streams BIGINT, since_age BIGINT, status TEXT, status_age BIGINT, seen_age BIGINT)
      ORDER BY r.user_id
     ON CONFLICT (user_id, node_id) DO UPDATE SET
       streams = excluded.streams, since = excluded.since, status = excluded.status,
       status_at = excluded.status_at, seen_at = excluded.seen_at, left_at = NULL`,
    nodeId,
    JSON.stringify(rows),
  )
}

/** What other processes know of these users. `left_age`: the process has stopped or is being removed. By user_id. */
export function listPresence(db: Queries, nodeId: string, userIds: Iterable<string>) {
  return db.all<PresenceRow & { left_age: Micros | null }>(
    `SELECT p.user_id, p.streams, clock.now - p.since AS since_age, p.status, clock.now - p.status_at AS status_age,
            clock.now - p.seen_at AS seen_age,
            CASE WHEN n.id IS NULL THEN clock.now - coalesce(p.left_at, 0) END AS left_age
       FROM (SELECT ${NOW} AS now) AS clock, node_presence p LEFT JOIN nodes n ON n.id = p.node_id
      WHERE p.user_id ${isOneOf('postgresql')} AND p.node_id <> ?`,
    jsonList(userIds),
    nodeId,
  )
}

/** The users whom other processes have seen within `lapse`, in microseconds, or who have a stream there. */
export async function listPresent(db: Queries, nodeId: string, lapse: Micros): Promise<string[]> {
  const rows = await db.all<{ user_id: string }>(
    `SELECT DISTINCT user_id FROM node_presence
      WHERE node_id <> ? AND (since IS NOT NULL OR status_at > ${NOW} - CAST(? AS BIGINT))`,
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

export async function insertSignal(db: Queries, nodeId: string, body: string): Promise<void> {
  await db.run(`INSERT INTO signals (node_id, at, body) VALUES (?, ${NOW}, ?)`, nodeId, body)
}

/** Deletes the signals that are older than `age`, in microseconds: every process has read them. */
export async function deleteSignals(db: Queries, age: Micros): Promise<void> {
  await db.run(`DELETE FROM signals WHERE at < ${NOW} - CAST(? AS BIGINT)`, age)
}

/** What one look at the signals finds. */
export interface Found {
  /** The snapshot of this look, as `pg_current_snapshot()` has it. */
  snapshot: string
  /** The ids of the other processes. */
  others: string[]
  /** The new signals of others, oldest first. */
  bodies: string[]
}

/** Beyond every transaction. */
const NEVER = '18446744073709551615'

/**
 * The signals of other processes that were committed since an earlier look, exactly: those of transactions that had not
 * ended by then.
 *
 * @param since the snapshot of the earlier look, as parameters; without one, there are no signals
 */
export async function findSignals(
  db: Queries,
  nodeId: string,
  since: [xmax: string, unfinished: string] = [NEVER, '{}'],
): Promise<Found> {
  const rows = await db.all<{ snapshot: string; others: string | null; body: string | null }>(
    `SELECT CAST(pg_current_snapshot() AS TEXT) AS snapshot,
            (SELECT string_agg(id, ',') FROM nodes WHERE id <> ?) AS others, s.body
       FROM (SELECT 1) AS one
       LEFT JOIN signals s ON s.node_id <> ? AND (s.xid >= CAST(? AS xid8) OR s.xid = ANY (CAST(? AS xid8[])))
      ORDER BY s.n`,
    nodeId,
    nodeId,
    ...since,
  )
  const [{ snapshot: now, others }] = rows as [(typeof rows)[0]]
  return { snapshot: now, others: others?.split(',') ?? [], bodies: rows.flatMap(({ body }) => body ?? []) }
}
