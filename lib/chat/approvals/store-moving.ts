import type { Queries } from '../../storage/database.ts'
import { sql } from '../../storage/sql.ts'

/** Lets up to `limit` calls of tools name no user who asked. By tool_calls_of_asker. @returns the number */
export function forgetAsker(tx: Queries, userId: string, limit: number): Promise<number> {
  return tx.run(
    sql`UPDATE tool_calls SET user_id = NULL WHERE id IN (SELECT id FROM tool_calls WHERE user_id = ${userId} LIMIT ${limit})`,
  )
}

/** Lets up to `limit` votes name no user, and give no reason. By votes_of_user. @returns the number */
export function forgetVoter(tx: Queries, userId: string, limit: number): Promise<number> {
  return tx.run(
    sql`UPDATE approval_votes SET user_id = NULL, reason = NULL
      WHERE id IN (SELECT id FROM approval_votes WHERE user_id = ${userId} LIMIT ${limit})`,
  )
}

/**
 * Gives what a user has asked for and voted on another user; of one who has voted on a call as both, the vote as the other
 * stays. By tool_calls_of_asker and votes_of_user.
 */
export async function moveApprovals(
  tx: Queries,
  { from_id, into_id }: { from_id: string; into_id: string },
): Promise<void> {
  await tx.run(sql`UPDATE tool_calls SET user_id = ${into_id} WHERE user_id = ${from_id}`)
  await tx.run(
    sql`DELETE FROM approval_votes WHERE user_id = ${from_id}
        AND call_id IN (SELECT own.call_id FROM approval_votes own WHERE own.user_id = ${into_id})`,
  )
  await tx.run(sql`UPDATE approval_votes SET user_id = ${into_id} WHERE user_id = ${from_id}`)
}
