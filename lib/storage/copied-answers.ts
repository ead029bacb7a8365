import { currentMicros } from '../core/time.ts'
import type { Queries } from './database.ts'
import { literal, sql } from './sql.ts'

/** The writer of answers that a copy of a database had under way: no process goes on with them. */
export const COPIED = literal('copied')

/** What was under way in a copied database. */
export interface CopiedAnswers {
  /** The answers that are interrupted: the original goes on with them. */
  answers: number
  /** The calls of tools on which participants can decide no more. */
  approvals: number
}

/**
 * Makes the answers under way in a copy such that the next service that starts interrupts them, instead of running their tools
 * once more.
 */
export async function stopCopiedAnswers(tx: Queries): Promise<CopiedAnswers> {
  // Their runs stay until then: what their steps have used counts.
  await tx.run(
    sql`UPDATE answers_under_way SET writer = ${COPIED}, lease_expires_at = 0
      WHERE message_id IN (SELECT message_id FROM answer_runs)`,
  )
  await tx.run(sql`DELETE FROM tasks WHERE kind = 'approval.expire'`)
  await tx.run(
    sql`INSERT INTO answers_under_way (message_id, conversation_id, writer, lease_expires_at, chunk_count)
     SELECT id, conversation_id, ${COPIED}, 0, (SELECT count(*) FROM message_chunks c WHERE c.message_id = messages.id)
       FROM messages WHERE status = 'waiting' AND id IN (SELECT message_id FROM tool_calls WHERE approval = 'waiting')`,
  )
  await tx.run(
    sql`UPDATE messages SET status = 'streaming'
      WHERE status = 'waiting' AND id IN (SELECT message_id FROM tool_calls WHERE approval = 'waiting')`,
  )
  const approvals = await tx.run(
    sql`UPDATE tool_calls SET approval = 'expired', decided_at = ${currentMicros()} WHERE approval = 'waiting'`,
  )
  return { answers: await countCopied(tx), approvals }
}

/** The number of answers that a copy has under way before it is started. */
export async function countCopied(db: Queries): Promise<number> {
  const row = await db.get<{ count: number }>(sql`SELECT count(*) AS count FROM answers_under_way`)
  return row!.count
}
