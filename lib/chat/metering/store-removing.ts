import type { Cutoff } from '../../core/clock.ts'
import type { Queries } from '../../storage/database.ts'
import { sql } from '../../storage/sql.ts'
import { ADD_TO_TOTAL } from '../../storage/usage-totals.ts'
import { periodOf } from './rules.ts'

/**
 * Deletes up to `limit` entries and sums of the months before that of `before`, sums of all first: a month without them is
 * not compared with its entries. By primary key and age. @returns the number deleted
 */
export async function deleteUsageBefore(tx: Queries, before: Cutoff, limit: number): Promise<number> {
  const month = periodOf('month', before).starts_at
  const all = await tx.run(
    sql`DELETE FROM usage_totals WHERE (dimension, unit, starts_at, key) IN (
          SELECT dimension, unit, starts_at, key FROM usage_totals
           WHERE dimension = 'all' AND unit IN ('day', 'month') AND starts_at < ${month} LIMIT ${limit})`,
  )
  const sums = await tx.run(
    sql`DELETE FROM usage_totals WHERE (dimension, unit, starts_at, key) IN (
          SELECT dimension, unit, starts_at, key FROM usage_totals WHERE starts_at < ${month} ORDER BY starts_at
           LIMIT ${limit - all})`,
  )
  const entries = await tx.run(
    sql`DELETE FROM usage_entries WHERE (message_id, kind) IN (
          SELECT message_id, kind FROM usage_entries WHERE at < ${month} ORDER BY at LIMIT ${limit - all - sums})`,
  )
  return all + sums + entries
}

/** Lets up to `limit` entries of a user name no user. By usage_entries_of_user. @returns the number */
export function forgetUserOfEntries(tx: Queries, userId: string, limit: number): Promise<number> {
  return tx.run(
    sql`UPDATE usage_entries SET user_id = NULL WHERE (message_id, kind) IN (
          SELECT message_id, kind FROM usage_entries WHERE user_id = ${userId} LIMIT ${limit})`,
  )
}

/** Deletes the sums of a user; those of all keep what they have. By usage_totals_of_user. */
export async function deleteTotalsOfUser(tx: Queries, userId: string): Promise<void> {
  await tx.run(sql`DELETE FROM usage_totals WHERE dimension = 'user' AND key = ${userId}`)
}

/** Makes what a user has used that of another one; a quota of their own is not. By the indexes of users. */
export async function moveUsage(
  tx: Queries,
  { from_id, into_id }: { from_id: string; into_id: string },
): Promise<void> {
  await tx.run(sql`UPDATE usage_entries SET user_id = ${into_id} WHERE user_id = ${from_id}`)
  await tx.run(
    sql`INSERT INTO usage_totals (dimension, unit, starts_at, key, answers, prompt_tokens, completion_tokens, cached_tokens,
            cost_micros)
     SELECT dimension, unit, starts_at, CAST(${into_id} AS TEXT), answers, prompt_tokens, completion_tokens,
            cached_tokens, cost_micros FROM usage_totals WHERE dimension = 'user' AND key = ${from_id}
     ${ADD_TO_TOTAL}`,
  )
  await deleteTotalsOfUser(tx, from_id)
}
