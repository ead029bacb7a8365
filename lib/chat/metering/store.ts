import type { Queries } from '../../storage/database.ts'
import { isErasedAuthor, join, type Micros, type Sql, sql } from '../../storage/sql.ts'
import { ADD_TO_TOTAL } from '../../storage/usage-totals.ts'
import type { Usage } from '../answers/schema.ts'
import type { PeriodBounds, ReportPlace, Span, Tokens } from './rules.ts'
import type { UsageDimension, UsageKind, UsageReportRow, UsageUnit } from './schema.ts'

/** An entry as it is stored. */
export interface EntryRow extends Tokens {
  message_id: string
  kind: (typeof UsageKind)['options'][number]
  at: Micros
  user_id: string | null
  conversation_id: string
  assistant: string
  model: string
  steps: number
  cost_micros: number
  estimated: number
}

const ENTRY_COLUMNS = sql`message_id, kind, at, user_id, conversation_id, assistant, model, steps, prompt_tokens,
  completion_tokens, cached_tokens, reasoning_tokens, cost_micros, estimated`

export async function insertEntry(tx: Queries, row: EntryRow): Promise<void> {
  await tx.run(
    sql`INSERT INTO usage_entries (${ENTRY_COLUMNS})
     VALUES (${row.message_id}, ${row.kind}, ${row.at}, ${row.user_id}, ${row.conversation_id}, ${row.assistant},
             ${row.model}, ${row.steps}, ${row.prompt_tokens}, ${row.completion_tokens}, ${row.cached_tokens},
             ${row.reasoning_tokens}, ${row.cost_micros}, ${row.estimated})`,
  )
}

/** By primary key. */
export function findEntry(db: Queries, messageId: string, kind: string): Promise<EntryRow | undefined> {
  return db.get<EntryRow>(
    sql`SELECT ${ENTRY_COLUMNS} FROM usage_entries WHERE message_id = ${messageId} AND kind = ${kind}`,
  )
}

/** What the sums are of; `all` has the key ''. */
type Dimension = Exclude<UsageDimension, 'day'> | 'all'

const TOTAL_COLUMNS = sql`dimension, unit, starts_at, key, answers, prompt_tokens, completion_tokens, cached_tokens,
  cost_micros`

/**
 * Adds an entry to the sums of its day and its month. All transactions take the rows in the same order, so that none waits
 * for another one in a circle.
 */
export async function addToTotals(tx: Queries, row: EntryRow, days: Record<UsageUnit, PeriodBounds>): Promise<void> {
  const keys: [Dimension, string][] = [
    ['all', ''],
    ['assistant', row.assistant],
    ['conversation', row.conversation_id],
    ['model', row.model],
    ...(row.user_id === null ? [] : [['user', row.user_id] as [Dimension, string]]),
  ]
  const answers = row.kind === 'answer' ? 1 : 0
  const rows = keys.flatMap(([dimension, key]) =>
    (['day', 'month'] as const).map(
      (unit) => sql`(${dimension}, ${unit}, ${days[unit].starts_at}, ${key}, ${answers}, ${row.prompt_tokens},
            ${row.completion_tokens}, ${row.cached_tokens}, ${row.cost_micros})`,
    ),
  )
  await tx.run(sql`INSERT INTO usage_totals (${TOTAL_COLUMNS}) VALUES ${join(rows, ', ')} ${ADD_TO_TOTAL}`)
}

/** Sums of a user or of all. */
export type Totals = Omit<UsageReportRow, 'key'>

const SUMS = sql`answers, prompt_tokens + completion_tokens AS tokens, prompt_tokens, completion_tokens, cached_tokens,
  cost_micros`

/** The sums of a day or a month, if it has any. By primary key. */
export function findTotals(
  db: Queries,
  dimension: Dimension,
  key: string,
  { unit, starts_at }: { unit: UsageUnit; starts_at: Micros },
): Promise<Totals | undefined> {
  return db.get<Totals>(
    sql`SELECT ${SUMS} FROM usage_totals
      WHERE dimension = ${dimension} AND unit = ${unit} AND starts_at = ${starts_at} AND key = ${key}`,
  )
}

/** The sums of each day from one to another, latest first: up to `limit` before `below`. By primary key. */
export function listDays(
  db: Queries,
  { from, before }: { from: Micros; before: Micros },
  limit: number,
): Promise<(Totals & { starts_at: Micros })[]> {
  return db.all(
    sql`SELECT starts_at, ${SUMS} FROM usage_totals
      WHERE dimension = 'all' AND unit = 'day' AND starts_at >= ${from} AND starts_at < ${before} AND key = ''
      ORDER BY starts_at DESC LIMIT ${limit}`,
  )
}

const TOKENS = sql`sum(prompt_tokens) + sum(completion_tokens)`

/** Users who are being erased have none. */
const isShown = (dimension: Dimension): Sql =>
  dimension === 'user' ? sql`AND NOT ${isErasedAuthor(sql`usage_totals.key`)}` : sql``

/** The sums of each key in these periods, those with the most tokens first: up to `limit` after a place. By primary key. */
export function listTotals(
  db: Queries,
  { dimension, spans, after }: { dimension: Dimension; spans: readonly Span[]; after: ReportPlace | undefined },
  limit: number,
): Promise<UsageReportRow[]> {
  const parts = spans.map(
    ({ unit, from, before }) => sql`SELECT key, answers, prompt_tokens, completion_tokens, cached_tokens, cost_micros
         FROM usage_totals
        WHERE dimension = ${dimension} AND unit = ${unit} AND starts_at >= ${from} AND starts_at < ${before}
              ${isShown(dimension)}`,
  )
  const rest = after
    ? sql`HAVING ${TOKENS} < ${after.tokens} OR (${TOKENS} = ${after.tokens} AND key < ${after.key})`
    : sql``
  return db.all(
    sql`SELECT key, CAST(sum(answers) AS BIGINT) AS answers, CAST(${TOKENS} AS BIGINT) AS tokens,
            CAST(sum(prompt_tokens) AS BIGINT) AS prompt_tokens,
            CAST(sum(completion_tokens) AS BIGINT) AS completion_tokens,
            CAST(sum(cached_tokens) AS BIGINT) AS cached_tokens, CAST(sum(cost_micros) AS BIGINT) AS cost_micros
       FROM (${join(parts, ' UNION ALL ')}) AS parts
      GROUP BY key ${rest}
      ORDER BY tokens DESC, key DESC LIMIT ${limit}`,
  )
}

/**
 * The bytes of what the assistant has read for an answer, at least: its question, and the messages above it. By primary keys.
 */
export async function findContextBytes(db: Queries, messageId: string): Promise<number> {
  const row = await db.get<{ bytes: number | null }>(
    sql`WITH RECURSIVE above (parent_id, bytes) AS (
          SELECT parent_id, octet_length(coalesce(prompt, '')) + octet_length(coalesce(context, ''))
            FROM messages WHERE id = ${messageId}
          UNION ALL
          SELECT m.parent_id, CASE WHEN m.deleted_at IS NULL
                   THEN octet_length(m.content) + octet_length(coalesce(m.prompt, '')) ELSE 0 END
            FROM above JOIN messages m ON m.id = above.parent_id)
      SELECT CAST(sum(bytes) AS BIGINT) AS bytes FROM above`,
  )
  return row?.bytes ?? 0
}

/** Stores the usage of an answer of several steps with its message. */
export async function setUsage(tx: Queries, messageId: string, usage: Usage): Promise<void> {
  await tx.run(sql`UPDATE messages SET usage = ${JSON.stringify(usage)} WHERE id = ${messageId}`)
}
