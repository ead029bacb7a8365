import type { Queries } from '../../storage/database.ts'
import type { Micros } from '../../storage/sql.ts'

/** Reserves the row of the first user. @returns whether it was free */
export async function claimSetup(tx: Queries, at: Micros): Promise<boolean> {
  return (await tx.run('INSERT INTO setup (id, done_at) VALUES (1, ?) ON CONFLICT DO NOTHING', at)) === 1
}
