import type { Queries } from '../../storage/database.ts'
import { type Micros, sql } from '../../storage/sql.ts'

/**
 * The id of the first event of the log from an instant on. Ids and instants rise together, but for the clocks of several
 * nodes: it is found by halving, with one row read at each step.
 */
export async function findFirstSince(db: Queries, instant: Micros): Promise<number | undefined> {
  const ends = await db.get<{ first: number | null; last: number | null }>(
    sql`SELECT (SELECT min(id) FROM events) AS first, (SELECT max(id) FROM events) AS last`,
  )
  let low = ends?.first ?? 0
  let high = ends?.last ?? -1
  let found: number | undefined
  while (low <= high) {
    const middle = Math.floor((low + high) / 2)
    // Numbers are missing in the log.
    const row = await db.get<{ id: number; created_at: Micros }>(
      sql`SELECT id, created_at FROM events WHERE id >= ${middle} ORDER BY id LIMIT 1`,
    )
    if (row === undefined || row.created_at >= instant) {
      if (row !== undefined) found = row.id
      high = middle - 1
    } else low = row.id + 1
  }
  return found
}
