import { findUsernames } from '../../accounts/users/store.ts'
import { assertAdmin, assertPerson } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { toInstant } from '../../core/time.ts'
import { DAY } from '../../core/units.ts'
import { useCase } from '../../core/use-case.ts'
import type { Queries } from '../../storage/database.ts'
import type { Micros } from '../../storage/sql.ts'
import { toReportCsv } from './report-csv.ts'
import { fromCursor, periodOf, type ReportPlace, spansOf, toCursor } from './rules.ts'
import { limitsOfRoles } from './rules-quotas.ts'
import {
  type OwnUsage,
  UsageCsvQuery,
  type UsageReportPage,
  UsageReportQuery,
  type UsageReportRow,
  UsageUnit,
} from './schema.ts'
import { findTotals, listDays, listTotals, type Totals } from './store.ts'
import { findQuota } from './store-quotas.ts'

const NOTHING: Totals = {
  answers: 0,
  tokens: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  cached_tokens: 0,
  cost_micros: 0,
}

/**
 * What the actor has used of the assistant, in the present day and month.
 *
 * @throws ChatError `forbidden` for the operator
 */
export const get = useCase({
  takes: ['actor'],
  run: async (ctx, actor): Promise<OwnUsage> => {
    assertPerson(actor)
    const now = ctx.now()
    const limits = (await findQuota(ctx.db, actor.user_id)) ?? limitsOfRoles(ctx.config.usage.quotas, actor.roles)
    const periods = await Promise.all(
      UsageUnit.options.map(async (unit) => {
        const { starts_at, resets_at } = periodOf(unit, now)
        const totals = await findTotals(ctx.db, 'user', actor.user_id, { unit, starts_at })
        return {
          period: unit,
          starts_at: toInstant(starts_at),
          resets_at: toInstant(resets_at),
          ...(limits[unit] && { limits: limits[unit] }),
          ...(totals ?? NOTHING),
        }
      }),
    )
    return { currency: ctx.config.usage.currency, periods }
  },
})

/**
 * A page of what the assistant has used between two days: by day, the latest first, or by what has used the most tokens.
 *
 * @throws ChatError `forbidden`; `invalid_cursor`
 */
export const report = useCase({
  takes: ['actor'],
  input: UsageReportQuery,
  errors: ['invalid_cursor'],
  run: async (ctx, actor, { by, from, to, after, limit }): Promise<UsageReportPage> => {
    assertAdmin(actor)
    const place = after === undefined ? undefined : fromCursor(by, after)
    if (after !== undefined && !place) throw new ChatError('invalid_cursor')
    const found = await listRows(ctx.db, by, { ...daysOf({ from, to }, ctx.now()), after: place }, limit + 1)
    const rows = found.slice(0, limit)
    return {
      currency: ctx.config.usage.currency,
      rows,
      ...(found.length > limit && { next_after: toCursor(by, rows.at(-1)!) }),
    }
  },
})

/** The largest report as CSV: one of more rows is read in pages, or for fewer days. */
const MAX_CSV_ROWS = 10_000

/**
 * A whole report as CSV (RFC 4180) with a line of headings: by day, the latest first, or by what has used the most tokens.
 *
 * @throws ChatError `forbidden`; `validation_failed` beyond 10,000 rows
 */
export const reportCsv = useCase({
  takes: ['actor'],
  input: UsageCsvQuery,
  run: async (ctx, actor, { by, from, to }): Promise<string> => {
    assertAdmin(actor)
    const days = daysOf({ from, to }, ctx.now())
    const rows = await listRows(ctx.db, by, { ...days, after: undefined }, MAX_CSV_ROWS + 1)
    if (rows.length > MAX_CSV_ROWS) {
      const message = `must leave at most ${MAX_CSV_ROWS} rows: choose fewer days, or read the report in pages`
      throw new ChatError('validation_failed', { errors: [{ path: 'to', message }] })
    }
    const keys = rows.map(({ key }) => key)
    const usernames = by === 'user' ? await findUsernames(ctx.db, keys) : undefined
    return toReportCsv(rows, { by, currency: ctx.config.usage.currency, usernames })
  },
})

/** The time between two days, both included; by default from the first of this month until today. */
function daysOf({ from, to }: Pick<UsageCsvQuery, 'from' | 'to'>, now: Micros): { from: Micros; before: Micros } {
  return {
    from: from === undefined ? periodOf('month', now).starts_at : startOf(from),
    before: to === undefined ? periodOf('day', now).resets_at : startOf(to) + DAY,
  }
}

/** The start of a day in UTC, in microseconds since 1970. */
const startOf = (day: string) => Date.parse(`${day}T00:00:00Z`) * 1000

interface ReportRange {
  from: number
  before: number
  after: ReportPlace | undefined
}

async function listRows(
  db: Queries,
  by: UsageReportQuery['by'],
  { from, before, after }: ReportRange,
  limit: number,
): Promise<UsageReportRow[]> {
  if (by !== 'day') {
    const spans = spansOf(from, before)
    return spans.length === 0 ? [] : listTotals(db, { dimension: by, spans, after }, limit)
  }
  const end = after ? Math.min(before, startOf(after.key)) : before
  const days = await listDays(db, { from, before: Number.isNaN(end) ? from : end }, limit)
  return days.map(({ starts_at, ...totals }) => ({ key: toInstant(starts_at).slice(0, 10), ...totals }))
}
