import type { Cutoff } from '../../core/clock.ts'
import type { Queries } from '../../storage/database.ts'
import { onRows } from '../../storage/on-rows.ts'
import { type Micros, sql } from '../../storage/sql.ts'

/** The users whose rights may have ended: one, the participants of a conversation, or, with neither, all. */
export interface Revocation {
  user_id?: string | null | undefined
  conversation_id?: string | null | undefined
}

const INSERT_REVOCATION = onRows<{ user_id: string | null; conversation_id: string | null; at: Micros }>(
  { user_id: 'text', conversation_id: 'text', at: 'bigint' },
  (given) => sql`INSERT INTO revocations (user_id, conversation_id, at) SELECT user_id, conversation_id, at
         FROM ${given}`,
)

/** Tells the other processes that rights have ended: they then check which streams may stay open. */
export function insertRevocations(tx: Queries, at: Micros, revocations: Revocation[]): Promise<void> {
  const rows = revocations.map(({ user_id = null, conversation_id = null }) => ({ user_id, conversation_id, at }))
  return INSERT_REVOCATION.run(tx, rows)
}

/** Deletes up to `limit` revocations from before the instant `before`. By `at`. @returns the number deleted */
export function deleteRevocationsBefore(tx: Queries, before: Cutoff, limit: number): Promise<number> {
  return tx.run(
    sql`DELETE FROM revocations WHERE id IN (SELECT id FROM revocations WHERE at < ${before} ORDER BY at
          LIMIT ${limit})`,
  )
}
