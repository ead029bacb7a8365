import type { Dialect, Queries } from '../../storage/database.ts'
import { join, literal, type Sql, sql } from '../../storage/sql.ts'
import type { Invariant } from './invariant.ts'

const DAY = literal(86_400_000_000)

/** Users who are being erased lose their sums at the end. */
const IS_ERASED = (user: Sql) => sql`EXISTS (SELECT 1 FROM erased_authors gone WHERE gone.user_id = ${user})`

const MONTH: Record<Dialect, Sql> = {
  sqlite: sql`CAST(strftime('%s', e.at / 1000000, 'auto', 'start of month') AS INTEGER) * 1000000`,
  postgresql: sql`CAST(extract(epoch FROM date_trunc('month', to_timestamp(e.at / 1000000) AT TIME ZONE 'UTC')) AS BIGINT)
    * 1000000`,
}

const KEYS = {
  all: { key: sql`''`, where: sql`true` },
  user: { key: sql`e.user_id`, where: sql`e.user_id IS NOT NULL AND NOT ${IS_ERASED(sql`e.user_id`)}` },
  assistant: { key: sql`e.assistant`, where: sql`true` },
  model: { key: sql`e.model`, where: sql`true` },
  conversation: { key: sql`e.conversation_id`, where: sql`true` },
}

/** Sums of before are being deleted, those of all first. */
const since = (unit: 'day' | 'month') =>
  sql`coalesce((SELECT min(starts_at) FROM usage_totals WHERE dimension = 'all' AND unit = ${literal(unit)}), 0)`

const IS_COMPARED = sql`starts_at >= CASE WHEN unit = 'day' THEN ${since('day')} ELSE ${since('month')} END`

/** The sums of the entries. */
function sumsOf(dialect: Dialect): Sql {
  const starts = { day: sql`e.at - e.at % ${DAY}`, month: MONTH[dialect] }
  const parts = Object.entries(KEYS).flatMap(([dimension, { key, where }]) =>
    (['day', 'month'] as const).map(
      (unit) => sql`SELECT ${literal(dimension)} AS dimension, ${literal(unit)} AS unit, ${starts[unit]} AS starts_at,
            ${key} AS key, CASE WHEN e.kind = 'answer' THEN 1 ELSE 0 END AS answers, e.prompt_tokens,
            e.completion_tokens, e.cached_tokens, e.cost_micros FROM usage_entries e WHERE ${where}`,
    ),
  )
  return sql`SELECT dimension, unit, starts_at, key, CAST(sum(answers) AS BIGINT) AS answers,
         CAST(sum(prompt_tokens) AS BIGINT) AS prompt_tokens,
         CAST(sum(completion_tokens) AS BIGINT) AS completion_tokens,
         CAST(sum(cached_tokens) AS BIGINT) AS cached_tokens, CAST(sum(cost_micros) AS BIGINT) AS cost_micros
    FROM (${join(parts, ' UNION ALL ')}) AS entries WHERE ${IS_COMPARED} GROUP BY dimension, unit, starts_at, key`
}

/** Makes the sums again, from the entries. */
const sumUp = (dialect: Dialect) => async (tx: Queries) => {
  const kept = sql`dimension = 'user' AND ${IS_ERASED(sql`usage_totals.key`)}`
  // The sums that are compared are those from the first one on, which must not be deleted before they are made.
  const rows = await tx.all<Record<string, string | number>>(sumsOf(dialect))
  await tx.run(sql`DELETE FROM usage_totals WHERE ${IS_COMPARED} AND NOT (${kept})`)
  for (const row of rows)
    await tx.run(
      sql`INSERT INTO usage_totals (dimension, unit, starts_at, key, answers, prompt_tokens, completion_tokens,
            cached_tokens, cost_micros)
       VALUES (${row.dimension!}, ${row.unit!}, ${row.starts_at!}, ${row.key!}, ${row.answers!}, ${row.prompt_tokens!},
               ${row.completion_tokens!}, ${row.cached_tokens!}, ${row.cost_micros!})`,
    )
}

/** The invariants of what the assistant has used. */
export function usageInvariants(dialect: Dialect): Invariant[] {
  return [
    {
      name: 'usage-sums',
      says: 'The sums of what the assistant has used are those of its entries.',
      find: sql`SELECT dimension || ' ' || key AS id FROM (
          SELECT dimension, unit, starts_at, key, answers, prompt_tokens, completion_tokens, cached_tokens, cost_micros
            FROM (${sumsOf(dialect)}) AS expected
          UNION ALL
          SELECT dimension, unit, starts_at, key, -answers, -prompt_tokens, -completion_tokens, -cached_tokens,
                 -cost_micros FROM usage_totals
           WHERE ${IS_COMPARED} AND NOT (dimension = 'user' AND ${IS_ERASED(sql`usage_totals.key`)})) AS pairs
        GROUP BY dimension, unit, starts_at, key
       HAVING sum(answers) <> 0 OR sum(prompt_tokens) <> 0 OR sum(completion_tokens) <> 0 OR sum(cached_tokens) <> 0
           OR sum(cost_micros) <> 0`,
      repair: sumUp(dialect),
    },
    {
      name: 'reservations-of-running',
      says: 'Only an answer of the assistant that is in progress has a part of a quota reserved.',
      remedy: 'Harmless: it is given back when the message ends, or within seconds after a restart.',
      find: sql`SELECT a.message_id AS id FROM answers_under_way a LEFT JOIN messages m ON m.id = a.message_id
              WHERE (a.reserved_tokens <> 0 OR a.reserved_micros <> 0)
                AND (m.id IS NULL OR m.role <> 'assistant' OR m.status <> 'streaming')`,
    },
  ]
}
