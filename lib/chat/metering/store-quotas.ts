import type { Queries } from '../../storage/database.ts'
import { join, type Micros, type Sql, sql } from '../../storage/sql.ts'
import type { Spent } from './rules-quotas.ts'
import type { UserQuota } from './schema.ts'

/** A period whose use is limited, of one user or of all. */
export interface LimitedPeriod extends Pick<Spent, 'scope' | 'period'> {
  starts_at: Micros
  resets_at: Micros
}

/**
 * What is used of each of these periods, with what is reserved for the answers in progress: one statement, so that an answer
 * that ends in between counts once. By primary keys; the table of answers in progress is small.
 */
export function listSpent(db: Queries, userId: string, periods: readonly LimitedPeriod[]): Promise<Spent[]> {
  return db.all<Spent>(
    join(
      periods.map((period) => spentIn(userId, period)),
      ' UNION ALL ',
    ),
  )
}

/** What is reserved for the answers in progress, and what those have used that wait for participants. */
const UNDER_WAY = sql`SELECT message_id, reserved_tokens AS tokens, reserved_micros AS micros FROM answers_under_way
  UNION ALL SELECT r.message_id, r.tokens, r.micros FROM answer_runs r
   WHERE NOT EXISTS (SELECT 1 FROM answers_under_way a WHERE a.message_id = r.message_id)`

function spentIn(userId: string, { scope, period, starts_at, resets_at }: LimitedPeriod): Sql {
  const isOwn = scope === 'user' ? sql`AND m.posted_by = ${userId}` : sql``
  const [dimension, key] = scope === 'user' ? ['user', userId] : ['all', '']
  return sql`SELECT CAST(${scope} AS TEXT) AS scope, CAST(${period} AS TEXT) AS period,
         CAST(r.answers + coalesce(t.answers, 0) AS BIGINT) AS answers,
         CAST(r.tokens + coalesce(t.prompt_tokens, 0) + coalesce(t.completion_tokens, 0) AS BIGINT) AS tokens,
         CAST(r.micros + coalesce(t.cost_micros, 0) AS BIGINT) AS cost_micros
    FROM (SELECT count(*) AS answers, coalesce(sum(u.tokens), 0) AS tokens, coalesce(sum(u.micros), 0) AS micros
            FROM (${UNDER_WAY}) AS u JOIN messages m ON m.id = u.message_id
           WHERE m.role = 'assistant' AND m.created_at >= ${starts_at} AND m.created_at < ${resets_at} ${isOwn}) AS r
    LEFT JOIN usage_totals t ON t.dimension = ${dimension!} AND t.unit = ${period} AND t.starts_at = ${starts_at}
          AND t.key = ${key!}`
}

/** The quota of a user's own, if an administrator has set one. By primary key. */
export async function findQuota(db: Queries, userId: string): Promise<UserQuota | undefined> {
  const row = await db.get<{ limits: string }>(sql`SELECT limits FROM usage_quotas WHERE id = ${userId}`)
  return row && (JSON.parse(row.limits) as UserQuota)
}

export async function upsertQuota(tx: Queries, userId: string, quota: UserQuota): Promise<void> {
  await tx.run(
    sql`INSERT INTO usage_quotas (id, limits) VALUES (${userId}, ${JSON.stringify(quota)})
     ON CONFLICT (id) DO UPDATE SET limits = excluded.limits`,
  )
}

/** @returns whether there was one */
export async function deleteQuota(tx: Queries, userId: string): Promise<boolean> {
  return (await tx.run(sql`DELETE FROM usage_quotas WHERE id = ${userId}`)) === 1
}
