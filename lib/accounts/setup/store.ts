import type { Queries } from '../../storage/database.ts'
import { type Micros, sql } from '../../storage/sql.ts'

/** Reserves the row of the first user. @returns whether it was free */
export async function claimSetup(tx: Queries, at: Micros): Promise<boolean> {
  return (await tx.run(sql`INSERT INTO setup (id, done_at) VALUES (1, ${at}) ON CONFLICT DO NOTHING`)) === 1
}
