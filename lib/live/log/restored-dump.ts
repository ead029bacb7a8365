import type { Database } from '../../storage/database.ts'
import { beginHistory } from '../../storage/histories.ts'
import { sql } from '../../storage/sql.ts'

/** The next transaction of the server. The rows that a statement sees have lower ones, unless they were written on another server. */
export const NEXT_XID = sql`pg_snapshot_xmax(pg_current_snapshot())`

/**
 * PostgreSQL: forgets the transactions of the server from which a dump was restored, unless this one has had as many. They
 * would seem unfinished until it has: every look would find their rows again, and no stream of all conversations could
 * begin or resume. A row without a transaction is older than all others.
 */
export async function forgetOtherServer(db: Database): Promise<void> {
  if (db.dialect !== 'postgresql') return
  for (const table of [sql`events`, sql`revocations`]) {
    // By the index of `xid`, which the planner takes for an order: it knows nothing of transactions.
    const found = await db.get(sql`SELECT 1 AS one FROM ${table} WHERE xid >= ${NEXT_XID} ORDER BY xid DESC LIMIT 1`)
    const forget = sql`UPDATE ${table} SET xid = NULL WHERE xid >= ${NEXT_XID}`
    // It may be all rows of the log.
    if (!found) continue
    await db.write(
      async (tx) => {
        await tx.run(forget)
        // The other server may have written more since the dump: its ids are not given again.
        await beginHistory(tx, { force: true })
      },
      { timeout: false },
    )
  }
  await db.run(sql`DELETE FROM meta WHERE name = 'last_deleted_xid' AND value::xid8 >= ${NEXT_XID}`)
}
