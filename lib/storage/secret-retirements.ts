import type { Queries } from './database.ts'
import { among, type Micros, sql } from './sql.ts'

/** Rows of `meta` by the names of secrets. Only the time is in them. */
const PREFIX = 'secret_retired:'

/** When these secrets became former ones, of those that are noted. By primary keys. */
export async function listRetirements(db: Queries, ids: readonly string[]): Promise<Map<string, Micros>> {
  const names = ids.map((id) => PREFIX + id)
  const rows = await db.all<{ name: string; value: string }>(
    sql`SELECT name, value FROM meta WHERE name ${among(db, names)}`,
  )
  return new Map(rows.map(({ name, value }) => [name.slice(PREFIX.length), Number(value)]))
}

/** Notes that these became former ones; a note that exists stays. */
export async function insertRetirements(tx: Queries, ids: readonly string[], at: Micros): Promise<void> {
  for (const id of ids)
    await tx.run(
      sql`INSERT INTO meta (name, value) VALUES (${PREFIX + id}, ${String(at)})
        ON CONFLICT (name) DO NOTHING`,
    )
}

/** Forgets that a secret was a former one: it signs again. */
export async function deleteRetirement(tx: Queries, id: string): Promise<void> {
  await tx.run(sql`DELETE FROM meta WHERE name = ${PREFIX + id}`)
}
