import type { Price } from '../../config/usage.ts'
import { DAY } from '../../core/units.ts'
import type { Usage } from '../answers/schema.ts'
import type { UsageDimension, UsageUnit } from './schema.ts'

/** A count beyond that is an error of a provider: it would make the sums of a month useless. */
const MAX_TOKENS = 1_000_000_000

/** The size of a token of a text in UTF-8, on average. */
const BYTES_PER_TOKEN = 4

/** The tokens of one answer. */
export interface Tokens {
  prompt_tokens: number
  completion_tokens: number
  cached_tokens: number
  reasoning_tokens: number
}

/** What an answer has used, or a title that the assistant has made, before it is stored. */
export interface UsedTokens extends Tokens {
  message_id: string
  conversation_id: string
  /** The user who asked; `null` if erased. */
  user_id: string | null
  kind: 'answer' | 'title'
  /** The key of the assistant. */
  assistant: string
  /** When the question was asked, in microseconds since 1970. */
  at: number
  steps: number
  estimated: boolean
}

/** What an answer was made of, in bytes of UTF-8: what the provider got, and its text. */
export interface TextBytes {
  prompt: number
  answer: number
}

/** Whether a provider has counted both the prompt and the answer. */
export function isCounted({ prompt_tokens, completion_tokens, total_tokens }: Usage = {}): boolean {
  return [prompt_tokens, completion_tokens, total_tokens].filter((count) => count !== undefined).length >= 2
}

/** The tokens of an answer: as its provider has counted them, the rest estimated by the bytes of the texts. */
export function countTokens(usage: Usage | undefined, bytes: TextBytes): Tokens & { estimated: boolean } {
  const { total_tokens: total, cached_tokens = 0, reasoning_tokens = 0 } = usage ?? {}
  const rest = (other: number | undefined) =>
    total === undefined || other === undefined ? undefined : Math.max(0, total - other)
  const prompt = usage?.prompt_tokens ?? rest(usage?.completion_tokens)
  const completion = usage?.completion_tokens ?? rest(usage?.prompt_tokens)
  const prompt_tokens = bounded(prompt ?? estimate(bytes.prompt))
  const completion_tokens = bounded(completion ?? estimate(bytes.answer))
  return {
    prompt_tokens,
    completion_tokens,
    // Servers count them as a part of the others.
    cached_tokens: Math.min(cached_tokens, prompt_tokens),
    reasoning_tokens: Math.min(reasoning_tokens, completion_tokens),
    estimated: !isCounted(usage),
  }
}

const estimate = (bytes: number) => Math.ceil(bytes / BYTES_PER_TOKEN)

const bounded = (count: number) => Math.min(count, MAX_TOKENS)

/** What tokens cost, in millionths of the currency; without a price nothing. Exact, and rounded once. */
export function costOf(
  { prompt_tokens, completion_tokens, cached_tokens }: Omit<Tokens, 'reasoning_tokens'>,
  price: Price | undefined,
): number {
  if (!price) return 0
  // The products exceed the numbers that are exact.
  const { input, output, cached = input } = price
  const sum =
    BigInt(prompt_tokens - cached_tokens) * BigInt(input) +
    BigInt(cached_tokens) * BigInt(cached) +
    BigInt(completion_tokens) * BigInt(output)
  return Number((sum + 500_000n) / 1_000_000n)
}

/** The start of a day or a month in UTC, and of the next one, in microseconds since 1970. */
export interface PeriodBounds {
  starts_at: number
  resets_at: number
}

/** The day or the month of an instant, in UTC. */
export function periodOf(unit: UsageUnit, at: number): PeriodBounds {
  const day = Math.floor(at / DAY) * DAY
  if (unit === 'day') return { starts_at: day, resets_at: day + DAY }
  const date = new Date(day / 1000)
  const month = (ahead: number) => Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + ahead, 1) * 1000
  return { starts_at: month(0), resets_at: month(1) }
}

/** Periods of one unit: those that start in `from`, and before `before`. */
export interface Span {
  unit: UsageUnit
  from: number
  before: number
}

/** The days from one instant to another as whole months and days beside them: there are fewer sums of months. */
export function spansOf(from: number, before: number): Span[] {
  const first = periodOf('month', from)
  const months = {
    from: first.starts_at === from ? from : first.resets_at,
    before: periodOf('month', before).starts_at,
  }
  if (months.from >= months.before) return from < before ? [{ unit: 'day', from, before }] : []
  const spans: Span[] = [
    { unit: 'day', from, before: months.from },
    { unit: 'month', ...months },
    { unit: 'day', from: months.before, before },
  ]
  return spans.filter((span) => span.from < span.before)
}

/** A place in a report: a day, or a key with its tokens. */
export interface ReportPlace {
  tokens: number
  key: string
}

/** The cursor after a row. */
export function toCursor(by: UsageDimension, { tokens, key }: ReportPlace): string {
  return `${by}_${tokens}_${key}`
}

/** The place of a cursor of this report; `undefined` for any other text. */
export function fromCursor(by: UsageDimension, cursor: string): ReportPlace | undefined {
  const [, of, tokens, key] = /^([a-z]{1,12})_(\d{1,16})_(.*)$/s.exec(cursor) ?? []
  if (of !== by || key === undefined || Number(tokens) > Number.MAX_SAFE_INTEGER) return undefined
  return { tokens: Number(tokens), key }
}
