import type { Queries } from '../storage/database.ts'
import { databaseNow, type Micros, SERVER_STARTED, sql } from '../storage/sql.ts'

export async function insertSignal(db: Queries, nodeId: string, body: string): Promise<void> {
  await db.run(sql`INSERT INTO signals (node_id, at, body) VALUES (${nodeId}, ${databaseNow(db.dialect)}, ${body})`)
}

/** Deletes the signals that are older than `age`, in microseconds: every process has read them. */
export async function deleteSignals(db: Queries, age: Micros): Promise<void> {
  await db.run(sql`DELETE FROM signals WHERE at < ${databaseNow(db.dialect)} - CAST(${age} AS BIGINT)`)
}

/** What one poll of the signals finds. */
export interface Found {
  /** Where it has ended: a snapshot of PostgreSQL and its server, or the number of the last signal. */
  at: string
  /** The ids of all processes that have a row. */
  ids: string[]
  /** The new signals of others, oldest first. */
  bodies: string[]
}

/** How signals after an earlier look are found; without one, after all that there can be. On SQLite, they have their numbers in the order of commits. */
const NEWER = {
  postgresql: {
    at: sql`CAST(pg_current_snapshot() AS TEXT) || ' ' || ${SERVER_STARTED}`,
    ids: sql`string_agg(id, ',')`,
    // Also signals of transactions that had not ended by then.
    isNewer: ([after = '18446744073709551615', late = '{}']: readonly string[]) =>
      sql`(s.xid >= CAST(${after} AS xid8) OR s.xid = ANY (CAST(${late} AS xid8[])))`,
  },
  sqlite: {
    at: sql`(SELECT CAST(coalesce(max(seq), 0) AS TEXT) FROM sqlite_sequence WHERE name = 'signals')`,
    ids: sql`group_concat(id)`,
    isNewer: ([after = '9223372036854775807']: readonly string[]) => sql`s.n > CAST(${after} AS INTEGER)`,
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
  since: readonly string[] = [],
): Promise<Found> {
  const { at, ids, isNewer } = NEWER[db.dialect]
  const rows = await db.all<{ at: string; ids: string | null; body: string | null }>(
    sql`SELECT ${at} AS at, (SELECT ${ids} FROM nodes) AS ids, s.body
       FROM (SELECT 1) AS one
       LEFT JOIN signals s ON s.node_id <> ${nodeId} AND ${isNewer(since)}
      ORDER BY s.n LIMIT ${limit}`,
  )
  const [first] = rows as [(typeof rows)[0]]
  return { at: first.at, ids: first.ids?.split(',') ?? [], bodies: rows.flatMap(({ body }) => body ?? []) }
}
