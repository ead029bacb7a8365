import type { Queries } from '../../storage/database.ts'
import { sql } from '../../storage/sql.ts'

/** Any number: the holder of this lock makes calls wait. */
const WAITING_LOCK = 7_202_095

/** Until the transaction ends no other call begins to wait. */
export async function lockWaiting(tx: Queries): Promise<void> {
  if (tx.dialect === 'postgresql') await tx.get(sql`SELECT pg_advisory_xact_lock(${WAITING_LOCK})`)
}

/** How many calls wait for a decision in a conversation, and of those that this user's questions have led to in all. By approvals_that_wait, approvals_of_asker. */
export async function countWaiting(
  tx: Queries,
  { conversation_id, user_id }: { conversation_id: string; user_id: string | null },
): Promise<{ here: number; own: number }> {
  const row = await tx.get<{ here: number; own: number }>(
    sql`SELECT (SELECT count(*) FROM tool_calls
               WHERE conversation_id = ${conversation_id} AND approval = 'waiting') AS here,
            (SELECT count(*) FROM tool_calls WHERE user_id = ${user_id} AND approval = 'waiting') AS own`,
  )
  return row!
}
