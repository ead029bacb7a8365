import type { Database } from '../../../lib/storage/database.ts'
import { literal, sql, statement } from '../../../lib/storage/sql.ts'

/** The days of the answers, from the first of January 2025 on. */
const DAYS = 400
const FIRST = Date.UTC(2025, 0, 1) * 1000
const DAY = 86_400_000_000

/**
 * Stores the sums of answers, each of another user or another day: as many sums of days as answers, and those of months. A report
 * reads no other table.
 *
 * @returns the number of users
 */
export async function fillUsage(db: Database, answers: number): Promise<{ users: number }> {
  const users = answers / DAYS
  const counted = (count: number) =>
    statement(`WITH RECURSIVE counted(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM counted WHERE n < ${count - 1})`)
  const columns = sql`dimension, unit, starts_at, key, answers, prompt_tokens, completion_tokens, cached_tokens, cost_micros`
  await db.write(
    async (tx) => {
      await tx.run(
        sql`INSERT INTO usage_totals (${columns}) ${counted(answers)}
         SELECT 'user', 'day', ${literal(FIRST)} + (n % ${literal(DAYS)}) * ${literal(DAY)},
                'user-' || (n / ${literal(DAYS)}), 1, 700 + n % 97, 50 + n % 89, 0, 12 FROM counted`,
      )
      for (let month = 0; month < Math.ceil(DAYS / 28); month++) {
        const [from, before] = [month, month + 1].map((each) => literal(Date.UTC(2025, each, 1) * 1000))
        await tx.run(
          sql`INSERT INTO usage_totals (${columns})
           SELECT dimension, 'month', ${from!}, key, sum(answers), sum(prompt_tokens), sum(completion_tokens),
                  sum(cached_tokens), sum(cost_micros)
             FROM usage_totals WHERE dimension = 'user' AND unit = 'day' AND starts_at >= ${from!} AND starts_at < ${before!}
            GROUP BY dimension, key`,
        )
      }
    },
    { timeout: false },
  )
  await db.run(db.dialect === 'postgresql' ? sql`VACUUM ANALYZE usage_totals` : sql`ANALYZE usage_totals`)
  return { users }
}
