import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { connectClient } from './client.ts'
import type { PgPool } from './pool.ts'

/** How often older transactions are looked for, and how many times. */
const CHECK_MS = 50
const VACUUM_CHECKS = 20

/**
 * Finds transactions that began earlier: the server keeps every row that they may still read. Transactions of other
 * roles are only visible with `pg_read_all_stats`.
 */
const OLDER = `SELECT 1 FROM pg_stat_activity
  WHERE datname = current_database() AND backend_type = 'client backend' AND xact_start < $1
    AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL) LIMIT 1`

/**
 * Vacuums tables on a connection of its own, without a timeout, until `signal` is aborted.
 *
 * @returns whether it removed every row that was deleted before: with `analyze` it vacuums in any case, otherwise only if
 *   it can
 */
export async function vacuum(
  pool: PgPool,
  tables: readonly string[],
  signal: AbortSignal,
  { analyze = false }: { analyze?: boolean } = {},
): Promise<boolean> {
  const client = await connectClient(pool)
  const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
  try {
    if (!analyze && (await isRead(client, signal))) return false
    for (const table of tables) {
      if (signal.aborted) return false
      const vacuumed = client.query(`VACUUM ${analyze ? '(ANALYZE) ' : ''}${table}`)
      // After the signal nothing awaits it.
      vacuumed.catch(() => {})
      await Promise.race([vacuumed, aborted])
    }
    return !signal.aborted
  } finally {
    // Not awaited: the server does not respond while it vacuums.
    client.end().catch(() => {})
  }
}

/** Whether a transaction that began before is still open: a copy of the database, or one that was forgotten. */
async function isRead(client: Client, signal: AbortSignal): Promise<boolean> {
  const { rows } = await client.query<{ now: string }>('SELECT clock_timestamp()::text AS now')
  for (let look = 0; look < VACUUM_CHECKS && !signal.aborted; look++) {
    if (look > 0) await sleep(CHECK_MS)
    if ((await client.query(OLDER, [rows[0]!.now])).rows.length === 0) return false
  }
  return true
}
