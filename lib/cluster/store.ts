import { DAY, SECOND } from '../core/units.ts'
import type { Database, Queries } from '../storage/database.ts'
import { among, databaseNow, greatest, literal, type Micros, type Sql, sql } from '../storage/sql.ts'
import type { ProcessPlace } from './process-place.ts'

// Times are always the database's, since the clocks of processes may differ.

/** A row of a process. */
export interface NodeRow {
  id: string
  version: string
  started_at: Micros
  beat_at: Micros
  streams: number
  /** As JSON: see `details.ts`. */
  details: string | null
  /** What it has last found of the storage of files: see `files/place.ts`. */
  files: string | null
}

/** Adds a process; a repeated call changes nothing but its heartbeat. */
export async function insertNode(db: Queries, id: string, version: string, place?: ProcessPlace): Promise<void> {
  await db.run(
    sql`INSERT INTO nodes (id, started_at, beat_at, version, streams, place)
     VALUES (${id}, ${databaseNow(db.dialect)}, ${databaseNow(db.dialect)}, ${version}, 0,
             ${place ? JSON.stringify(place) : null})
     ON CONFLICT (id) DO UPDATE SET beat_at = excluded.beat_at`,
  )
}

/** Writes what a process notes of itself. */
export async function updateDetails(db: Queries, id: string, details: string): Promise<void> {
  await db.run(sql`UPDATE nodes SET details = ${details} WHERE id = ${id}`)
}

/** The other processes, with where they run. */
export async function listPlaces(db: Queries, id: string, limit: number): Promise<{ id: string; place: string }[]> {
  return db.all(sql`SELECT id, place FROM nodes WHERE id <> ${id} AND place IS NOT NULL LIMIT ${limit}`)
}

/**
 * Reports that a process runs. PostgreSQL returns its time, which costs nothing here; SQLite has the clock of the machine.
 *
 * @param unheard_ms how long ago this process has last received a signal of others
 * @param files what it has last found of the storage of files, if it looks
 * @param clock_difference how far the clock of the process's machine is behind the database's, if it knows
 * @returns `has_row`: false if others took the process for dead
 */
export async function recordHeartbeat(
  db: Queries,
  id: string,
  {
    streams,
    unheard_ms,
    files,
    clock_difference,
  }: {
    streams: number
    unheard_ms: number
    files?: string | undefined
    clock_difference?: Micros | undefined
  },
): Promise<{ has_row: boolean; at?: Micros }> {
  const now = databaseNow(db.dialect)
  const update = sql`UPDATE nodes SET beat_at = ${now}, streams = ${streams}, files = ${files ?? null},
      clock_difference = ${clock_difference ?? null},
      heard_at = ${now} - CAST(${Math.round(unheard_ms * 1000)} AS BIGINT) WHERE id = ${id}`
  if (db.dialect === 'sqlite') return { has_row: (await db.run(update)) === 1 }
  const row = await db.get<{ beat_at: Micros }>(sql`${update} RETURNING beat_at`)
  return row ? { has_row: true, at: Number(row.beat_at) } : { has_row: false }
}

/** Whether the clock of another live node differs by at most so much from the database's. */
export async function hasAgreeingNode(
  db: Queries,
  id: string,
  { deadAfter, most }: { deadAfter: Micros; most: Micros },
): Promise<boolean> {
  const row = await db.get(
    sql`SELECT 1 AS found FROM nodes
      WHERE id <> ${id} AND beat_at >= ${databaseNow(db.dialect)} - CAST(${deadAfter} AS BIGINT)
        AND clock_difference BETWEEN - CAST(${most} AS BIGINT) AND CAST(${most} AS BIGINT) LIMIT 1`,
  )
  return row !== undefined
}

/** The age of the notes of others that count, in microseconds. */
const POLLED_LATELY = 5 * SECOND

/**
 * How much later than this process another one must have received signals, in microseconds: what all miss is not its
 * own failure.
 */
const POLLED_LATER = 1_000_000

/** How long the statement may take: a probe waits for it. */
const HEARD_TIMEOUT_MS = 500

/** Whether another process has received signals lately, and after this one, which has not for `unheard_ms`. */
export async function anotherNodePolls(db: Database, id: string, unheard_ms: number): Promise<boolean> {
  const now = databaseNow(db.dialect)
  const read = (tx: Queries) =>
    tx.get(
      sql`SELECT 1 FROM nodes WHERE id <> ${id}
            AND heard_at > ${now} - CAST(${Math.min(POLLED_LATELY, Math.round(unheard_ms * 1000) - POLLED_LATER)} AS BIGINT) LIMIT 1`,
    )
  return (await db.snapshot(read, { timeout: HEARD_TIMEOUT_MS })) !== undefined
}

/** The processes with a heartbeat within `deadAfter`, in microseconds: the others are dead, and not removed yet. */
export function listNodes(db: Queries, deadAfter: Micros, limit: number): Promise<NodeRow[]> {
  return db.all<NodeRow>(
    sql`SELECT id, version, started_at, beat_at, streams, details, files FROM nodes
      WHERE beat_at >= ${databaseNow(db.dialect)} - CAST(${deadAfter} AS BIGINT) ORDER BY started_at, id
      LIMIT ${limit}`,
  )
}

/**
 * How much longer than what a stopped process has left behind that of a process without a row is kept, in microseconds:
 * one that was taken for dead adds its row at its next heartbeat, and its users have been there for long.
 */
const UNKNOWN_KEPT = DAY

/** How the users of removed rows are passed on. */
interface Removal {
  /** How long the status of a user is valid without a stream, in microseconds. */
  remembered: Micros
  /** Part of the transaction: if this process dies behind it, no other one finds these users. */
  announce: (tx: Queries, userIds: string[]) => Promise<void>
}

/**
 * Removes the processes without a heartbeat for `deadAfter`, in microseconds, and what they knew of users. A concurrent call
 * finds nothing. By node_id, and only if a process has died: each process calls it at each heartbeat.
 *
 * @returns the users whose presence may differ now, which are few of those that a process has ever seen
 */
export function removeDead(
  db: Database,
  { deadAfter, ...removal }: Removal & { deadAfter: Micros },
): Promise<string[]> {
  return db.write(async (tx) => {
    const dead = await tx.all<{ id: string }>(
      sql`DELETE FROM nodes WHERE beat_at < ${databaseNow(db.dialect)} - CAST(${deadAfter} AS BIGINT) RETURNING id`,
    )
    if (dead.length === 0) return []
    return deletePresence(
      tx,
      sql`node_id ${among(
        db,
        dead.map((row) => row.id),
      )}`,
      removal,
    )
  })
}

/**
 * Deletes what processes that have stopped left behind, after the time `remembered`. Reads all that is known of users.
 *
 * @returns as {@link removeDead}
 */
export function deleteLeft(db: Database, removal: Removal): Promise<string[]> {
  const isLeft = sql`coalesce(left_at, seen_at + ${literal(UNKNOWN_KEPT)},
         0) < ${databaseNow(db.dialect)} - CAST(${removal.remembered} AS BIGINT)
          AND NOT EXISTS (SELECT 1 FROM nodes n WHERE n.id = node_presence.node_id)`
  return db.write((tx) => deletePresence(tx, isLeft, removal))
}

async function deletePresence(tx: Queries, condition: Sql, { remembered, announce }: Removal): Promise<string[]> {
  // With users seen a moment ago: a process may die after it has stored that they left, before it signals it to others.
  const rows = await tx.all<{ user_id: string; counts: number }>(
    sql`DELETE FROM node_presence
      WHERE ${condition}
     RETURNING user_id,
       CASE WHEN since IS NOT NULL AND left_at IS NULL THEN 1
            WHEN ${greatest(tx.dialect)}(coalesce(status_at, 0), coalesce(seen_at, 0))
                 > ${databaseNow(tx.dialect)} - CAST(${remembered} AS BIGINT) THEN 1
            WHEN status IS NOT NULL
             AND EXISTS (SELECT 1 FROM node_presence o WHERE o.user_id = node_presence.user_id AND o.since IS NOT NULL)
            THEN 1 ELSE 0 END AS counts`,
  )
  const userIds = [...new Set(rows.filter(({ counts }) => counts === 1).map((row) => row.user_id))]
  await announce(tx, userIds)
  return userIds
}

/** Removes a process that stops, or has ended. Its users stay for a moment. @param announce as of {@link Removal}, of those with an open stream */
export async function removeNode(db: Database, id: string, announce: Removal['announce']): Promise<void> {
  await db.write(async (tx) => {
    await tx.run(sql`DELETE FROM nodes WHERE id = ${id}`)
    const rows = await tx.all<{ user_id: string; since: Micros | null }>(
      sql`UPDATE node_presence SET streams = 0, left_at = ${databaseNow(db.dialect)} WHERE node_id = ${id}
            AND left_at IS NULL
       RETURNING user_id, since`,
    )
    await announce(
      tx,
      rows.filter(({ since }) => since !== null).map((row) => row.user_id),
    )
  })
}
