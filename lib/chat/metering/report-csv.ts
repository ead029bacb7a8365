import { csvLine } from '../../core/csv.ts'
import type { UsageDimension, UsageReportRow } from './schema.ts'

/** Millionths of a currency. */
const MICROS = 1_000_000

/** What a report as CSV has beside its rows. */
interface CsvOptions {
  by: UsageDimension
  currency: string
  /** The usernames of a report by user: administrators know people by them. */
  usernames?: ReadonlyMap<string, string> | undefined
}

/** The rows of a report as CSV, costs in whole units of the currency. */
export function toReportCsv(rows: readonly UsageReportRow[], { by, currency, usernames }: CsvOptions): string {
  const headings = [
    by,
    ...(usernames ? ['username'] : []),
    ...['answers', 'tokens', 'prompt_tokens', 'completion_tokens', 'cached_tokens', 'cost', 'currency'],
  ]
  const lines = rows.map(({ key, answers, tokens, prompt_tokens, completion_tokens, cached_tokens, cost_micros }) =>
    csvLine([
      key,
      ...(usernames ? [usernames.get(key) ?? ''] : []),
      ...[answers, tokens, prompt_tokens, completion_tokens, cached_tokens],
      (cost_micros / MICROS).toFixed(6),
      currency,
    ]),
  )
  return [csvLine(headings), ...lines].join('')
}
