import { createClient } from './client.ts'
import type { PgPool } from './pool.ts'

/** Vacuums tables on a connection of its own, without a timeout, until `signal` is aborted. */
export async function vacuum(
  pool: PgPool,
  tables: readonly string[],
  signal: AbortSignal,
  { analyze = false }: { analyze?: boolean } = {},
): Promise<void> {
  const client = await createClient(pool)
  const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
  try {
    await client.connect()
    for (const table of tables) {
      if (signal.aborted) return
      const vacuumed = client.query(`VACUUM ${analyze ? '(ANALYZE) ' : ''}${table}`)
      // After the signal nothing awaits it.
      vacuumed.catch(() => {})
      await Promise.race([vacuumed, aborted])
    }
  } finally {
    // Not awaited: the server does not respond while it vacuums.
    client.end().catch(() => {})
  }
}
