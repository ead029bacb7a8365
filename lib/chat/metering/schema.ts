import * as v from 'valibot'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { Id, Instant, Limit, plainObject, text } from '../../core/schema.ts'

const Count = v.pipe(v.number(), v.integer(), v.minValue(0))

/** The sums of what answers have used. */
const SUMS = {
  answers: v.pipe(Count, v.description('Answers, however they have ended')),
  tokens: v.pipe(Count, v.description('`prompt_tokens` and `completion_tokens`')),
  prompt_tokens: Count,
  completion_tokens: Count,
  cached_tokens: v.pipe(Count, v.description('Those of `prompt_tokens` that the provider had in its cache')),
  cost_micros: v.pipe(Count, v.description('What they cost by `prices`, in millionths of the currency')),
}

/** A time by which usage is summed up, in UTC. */
export const UsageUnit = v.picklist(['day', 'month'])
export type UsageUnit = v.InferOutput<typeof UsageUnit>

const Bound = v.optional(v.pipe(Count, v.maxValue(1_000_000_000_000)))

/** How much may be used in a day or a month; what is left out is not limited. */
export const UsageLimits = v.object({ answers: Bound, tokens: Bound, cost_micros: Bound })
export type UsageLimits = v.InferOutput<typeof UsageLimits>

/** How much of the assistant a user may use in each day and each month, in UTC; what is left out is not limited. */
export const UserQuota = v.object({ day: v.optional(UsageLimits), month: v.optional(UsageLimits) })
export type UserQuota = v.InferOutput<typeof UserQuota>

/** The quota of a user's own, which is missing while those of the user's roles hold, and these. */
export const UserQuotaState = v.object({ quota: v.optional(UserQuota), roles: UserQuota })
export type UserQuotaState = v.InferOutput<typeof UserQuotaState>

/** {@link UsageLimits} as they are set. */
export const UsageLimitsInput = plainObject({ answers: Bound, tokens: Bound, cost_micros: Bound })
export type UsageLimitsInput = v.InferInput<typeof UsageLimitsInput>

/** {@link UserQuota} as it is set. */
export const UserQuotaInput = v.object({ day: v.optional(UsageLimitsInput), month: v.optional(UsageLimitsInput) })
export type UserQuotaInput = v.InferInput<typeof UserQuotaInput>

/** What a user has used in the present day or month. */
export const UsagePeriod = v.object({
  period: UsageUnit,
  starts_at: Instant,
  resets_at: v.pipe(Instant, v.description('When the next one begins')),
  limits: v.optional(UsageLimits),
  ...SUMS,
})
export type UsagePeriod = v.InferOutput<typeof UsagePeriod>

/** What a user has used of the assistant: in the present day, and in the present month. */
export const OwnUsage = v.object({
  currency: v.pipe(v.string(), v.description('`usage.currency`')),
  periods: v.array(UsagePeriod),
})
export type OwnUsage = v.InferOutput<typeof OwnUsage>

/** What a report has a row for each of. */
export const UsageDimension = v.picklist(['user', 'assistant', 'model', 'day', 'conversation'])
export type UsageDimension = v.InferOutput<typeof UsageDimension>

/** A day in UTC. */
const DAY = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/

const Day = v.pipe(text(MAX_LENGTH.day), v.regex(DAY), v.metadata({ pattern: DAY.source }))

/** What a report is of, as CSV. */
export const UsageCsvQuery = v.object({
  by: v.optional(v.pipe(UsageDimension, v.description('What each row is of')), 'user'),
  from: v.optional(v.pipe(Day, v.description('The first day, in UTC; by default the first of this month'))),
  to: v.optional(v.pipe(Day, v.description('The last day, in UTC; by default the present one'))),
})
export type UsageCsvQuery = v.InferOutput<typeof UsageCsvQuery>

export const UsageReportQuery = v.object({
  ...UsageCsvQuery.entries,
  after: v.optional(v.pipe(text(MAX_LENGTH.report_place), v.description('`next_after` of the previous page'))),
  limit: Limit(50, 200),
})
export type UsageReportQuery = v.InferOutput<typeof UsageReportQuery>

/** A row of a report. */
export const UsageReportRow = v.object({
  key: v.pipe(
    v.string(),
    v.description(
      'The id of the user or the conversation, the name of the assistant or the model, or the day; the model is empty where none is configured',
    ),
  ),
  ...SUMS,
})
export type UsageReportRow = v.InferOutput<typeof UsageReportRow>

/** A page of what the assistant has used: days the latest first, others by their tokens, the most first. */
export const UsageReportPage = v.object({
  currency: v.pipe(v.string(), v.description('`usage.currency`')),
  rows: v.array(UsageReportRow),
  next_after: v.optional(v.string()),
})
export type UsageReportPage = v.InferOutput<typeof UsageReportPage>

/** What an entry is of. */
export const UsageKind = v.picklist(['answer', 'title'])

/** What one answer has used, or the title of a thread that the assistant has made. */
export const UsageEntry = v.object({
  message_id: Id,
  kind: UsageKind,
  at: v.pipe(Instant, v.description('When the question was asked')),
  user_id: v.optional(v.pipe(Id, v.description('The user who asked; missing once erased'))),
  conversation_id: Id,
  assistant: v.string(),
  model: v.string(),
  steps: Count,
  prompt_tokens: Count,
  completion_tokens: Count,
  cached_tokens: Count,
  reasoning_tokens: Count,
  cost_micros: Count,
  estimated: v.optional(v.literal(true)),
})
export type UsageEntry = v.InferOutput<typeof UsageEntry>
