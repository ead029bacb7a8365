import type { Database, Primitive, Queries } from '../storage/database.ts'
import { onRows } from '../storage/on-rows.ts'
import { databaseNow, isOneOf, jsonList, type Micros, SERVER_STARTED } from '../storage/sql.ts'

/** The current time: always the database's, since the clocks of processes may differ. */
const nowOf = ({ dialect }: Queries) => databaseNow(dialect)

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
    `INSERT INTO nodes (id, started_at, beat_at, version, streams) VALUES (?, ${nowOf(db)}, ${nowOf(db)}, ?, 0)
     ON CONFLICT (id) DO UPDATE SET beat_at = excluded.beat_at`,
    id,
    version,
  )
}

/** @returns false if the process has no row any more: others took it for dead */
export async function beat(db: Queries, id: string, streams: number): Promise<boolean> {
  return (await db.run(`UPDATE nodes SET beat_at = ${nowOf(db)}, streams = ? WHERE id = ?`, streams, id)) === 1
}

/** The processes with a beat within `silence`, in microseconds: the others are dead, and not removed yet. */
export function listNodes(db: Queries, silence: Micros, limit: number): Promise<NodeRow[]> {
  return db.all<NodeRow>(
    `SELECT id, version, started_at, beat_at, streams FROM nodes
      WHERE beat_at >= ${nowOf(db)} - CAST(? AS BIGINT) ORDER BY started_at, id LIMIT ?`,
    silence,
    limit,
  )
}

/**
 * How much longer than what a stopped process has left behind that of a process without a row is kept, in microseconds:
 * one that was taken for dead adds its row at its next beat, and its users have been there for long.
 */
const UNKNOWN_KEPT = 24 * 60 * 60 * 1_000_000

/** How the users of removed rows are passed on. */
interface Removal {
  /** How long the status of a user is valid without a stream, in microseconds. */
  remembered: Micros
  /** Part of the transaction: if this process dies behind it, no other one finds these users. */
  tell: (tx: Queries, userIds: string[]) => Promise<void>
}

/**
 * Removes the processes without a beat for `silence`, in microseconds, and what they knew of users. A concurrent call
 * finds nothing. By node_id, and only if a process has died: each process calls it at each beat.
 *
 * @returns the users whose presence may differ now, which are few of those that a process has ever seen
 */
export function removeDead(db: Database, { silence, ...removal }: Removal & { silence: Micros }): Promise<string[]> {
  return db.write(async (tx) => {
    const dead = await tx.all<{ id: string }>(
      `DELETE FROM nodes WHERE beat_at < ${nowOf(db)} - CAST(? AS BIGINT) RETURNING id`,
      silence,
    )
    if (dead.length === 0) return []
    return deletePresence(tx, `node_id ${isOneOf(db.dialect)}`, jsonList(dead.map((row) => row.id)), removal)
  })
}

/**
 * Deletes what processes that have stopped left behind, after the time `remembered`. Reads all that is known of users.
 *
 * @returns as {@link removeDead}
 */
export function deleteLeft(db: Database, removal: Removal): Promise<string[]> {
  const isLeft = `coalesce(left_at, seen_at + ${UNKNOWN_KEPT}, 0) < ${nowOf(db)} - CAST(? AS BIGINT)
          AND NOT EXISTS (SELECT 1 FROM nodes n WHERE n.id = node_presence.node_id)`
  return db.write((tx) => deletePresence(tx, isLeft, removal.remembered, removal))
}

async function deletePresence(
  tx: Queries,
  condition: string,
  param: Primitive,
  { remembered, tell }: Removal,
): Promise<string[]> {
  const rows = await tx.all<{ user_id: string; counts: number }>(
    `DELETE FROM node_presence
      WHERE ${condition}
     RETURNING user_id,
       CASE WHEN since IS NOT NULL AND left_at IS NULL THEN 1
            WHEN status_at > ${nowOf(tx)} - CAST(? AS BIGINT) THEN 1
            WHEN status IS NOT NULL
             AND EXISTS (SELECT 1 FROM node_presence o WHERE o.user_id = node_presence.user_id AND o.since IS NOT NULL)
            THEN 1 ELSE 0 END AS counts`,
    param,
    remembered,
  )
  const userIds = [...new Set(rows.filter(({ counts }) => counts === 1).map((row) => row.user_id))]
  await tell(tx, userIds)
  return userIds
}

/** Removes a process that stops. Its users stay for a moment. @returns those with an open stream */
export async function removeNode(db: Database, id: string): Promise<string[]> {
  const rows = await db.write(async (tx) => {
    await tx.run('DELETE FROM nodes WHERE id = ?', id)
    return tx.all<{ user_id: string; since: Micros | null }>(
      `UPDATE node_presence SET streams = 0, left_at = ${nowOf(db)} WHERE node_id = ? AND left_at IS NULL
       RETURNING user_id, since`,
      id,
    )
  })
  return rows.filter(({ since }) => since !== null).map((row) => row.user_id)
}

/** The streams of a process have ended: they no longer count for the limit of a user. By node_id. */
export async function endStreams(db: Database, nodeId: string): Promise<void> {
  await db.write((tx) => tx.run('UPDATE node_presence SET streams = 0 WHERE node_id = ? AND streams > 0', nodeId))
}

/** Deletes what a process knows of the users without a stream whom it has not seen for `age`, in microseconds. By node_id. */
export async function deleteUnseen(db: Queries, nodeId: string, age: Micros): Promise<void> {
  await db.run(
    `DELETE FROM node_presence
      WHERE node_id = ? AND since IS NULL AND coalesce(seen_at, 0) < ${nowOf(db)} - CAST(? AS BIGINT)`,
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
       FROM (SELECT ${nowOf(db)} AS now) AS clock, node_presence p LEFT JOIN nodes n ON n.id = p.node_id
      WHERE p.user_id ${isOneOf(db.dialect)} AND p.node_id <> ?`,
    jsonList(userIds),
    nodeId,
  )
}

/** The users that other processes have seen within `lapse`, in microseconds, or who have a stream there. */
export async function listPresent(db: Queries, nodeId: string, lapse: Micros): Promise<string[]> {
  const rows = await db.all<{ user_id: string }>(
    `SELECT DISTINCT user_id FROM node_presence
      WHERE node_id <> ? AND (since IS NOT NULL OR status_at > ${nowOf(db)} - CAST(? AS BIGINT))`,
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
  await db.run(`INSERT INTO signals (node_id, at, body) VALUES (?, ${nowOf(db)}, ?)`, nodeId, body)
}

/** Deletes the signals that are older than `age`, in microseconds: every process has read them. */
export async function deleteSignals(db: Queries, age: Micros): Promise<void> {
  await db.run(`DELETE FROM signals WHERE at < ${nowOf(db)} - CAST(? AS BIGINT)`, age)
}

/** What one look at the signals finds. */
export interface Found {
  /** Where it has ended: a snapshot of PostgreSQL and its server, or the number of the last signal. */
  at: string
  /** The ids of all processes that have a row. */
  ids: string[]
  /** The new signals of others, oldest first. */
  bodies: string[]
}

/** How signals after an earlier look are found. On SQLite, they have their numbers in the order of commits. */
const NEWER = {
  postgresql: {
    at: `CAST(pg_current_snapshot() AS TEXT) || ' ' || ${SERVER_STARTED}`,
    ids: "string_agg(id, ',')",
    // Of transactions that had not ended by then.
    isNewer: '(s.xid >= CAST(? AS xid8) OR s.xid = ANY (CAST(? AS xid8[])))',
    none: ['18446744073709551615', '{}'],
  },
  sqlite: {
    at: "(SELECT CAST(coalesce(max(seq), 0) AS TEXT) FROM sqlite_sequence WHERE name = 'signals')",
    ids: 'group_concat(id)',
    isNewer: 's.n > CAST(? AS INTEGER)',
    none: ['9223372036854775807'],
  },
} as const

/**
 * The signals of other processes that were committed since an earlier look, at most `limit`.
 *
 * @param since where the earlier look has ended, as parameters; without one, there are no signals
 */
export async function findSignals(
  db: Queries,
  nodeId: string,
  limit: number,
  since?: readonly string[],
): Promise<Found> {
  const { at, ids, isNewer, none } = NEWER[db.dialect]
  const rows = await db.all<{ at: string; ids: string | null; body: string | null }>(
    `SELECT ${at} AS at, (SELECT ${ids} FROM nodes) AS ids, s.body
       FROM (SELECT 1) AS one
       LEFT JOIN signals s ON s.node_id <> ? AND ${isNewer}
      ORDER BY s.n LIMIT ?`,
    nodeId,
    ...(since ?? none),
    limit,
  )
  const [first] = rows as [(typeof rows)[0]]
  return { at: first.at, ids: first.ids?.split(',') ?? [], bodies: rows.flatMap(({ body }) => body ?? []) }
}
