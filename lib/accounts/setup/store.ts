import type { Queries } from '../../storage/database.ts'
import type { Micros } from '../../storage/sql.ts'

/** Takes the one place for a first user. @returns whether it was still free */
export async function claimSetup(tx: Queries, at: Micros): Promise<boolean> {
  return (await tx.run('INSERT INTO setup (id, done_at) VALUES (1, ?) ON CONFLICT DO NOTHING', at)) === 1
}
