import type { Config } from '../../config/parse.ts'
import { ChatError } from '../../core/errors.ts'
import { toInstant } from '../../core/time.ts'
import { SECOND } from '../../core/units.ts'
import type { Queries } from '../../storage/database.ts'
import type { Micros } from '../../storage/sql.ts'
import { modelOf, type PricedContext } from './models.ts'
import { costOf, periodOf } from './rules.ts'
import { type Amounts, findExceeded, limitsOfRoles, limitsOfService } from './rules-quotas.ts'
import { UsageUnit, type UserQuota } from './schema.ts'
import { listSpent } from './store-quotas.ts'

/** A question to the assistant. */
export interface Question {
  user_id: string
  roles: readonly string[]
  /** What is reserved for its answer. */
  wanted: Amounts
  /** When it is asked. */
  at: Micros
  /** The user's own quota, as it is stored; `null` if there is none. */
  quota: string | null
}

/** What is reserved for an answer until it ends: the tokens, and what they cost as the model's output. */
export function reservedFor(ctx: PricedContext, assistant: string | null): Amounts {
  const { price } = modelOf(ctx, assistant)
  const tokens = ctx.config.usage.reserve_tokens
  return {
    answers: 1,
    tokens,
    cost_micros: costOf({ prompt_tokens: 0, cached_tokens: 0, completion_tokens: tokens }, price),
  }
}

/**
 * Refuses a question for whose answer there is not enough left of a quota. The transaction has locked the start of answers, so
 * that of several at once exactly those pass that fit.
 *
 * @throws ChatError `rate_limited`, with the quota
 */
export async function assertWithinQuotas(tx: Queries, config: Config, question: Question): Promise<void> {
  const { user_id, roles, wanted, at, quota } = question
  const { quotas } = config.usage
  const own = quota === null ? limitsOfRoles(quotas, roles) : (JSON.parse(quota) as UserQuota)
  const scopes = { user: own, service: limitsOfService(quotas) }
  const limited = (['user', 'service'] as const).flatMap((scope) =>
    UsageUnit.options.flatMap((period) => {
      const limits = scopes[scope][period]
      return limits && Object.keys(limits).length > 0 ? [{ scope, period, limits, ...periodOf(period, at) }] : []
    }),
  )
  if (limited.length === 0) return
  const spent = await listSpent(tx, user_id, limited)
  const all = spent.map((each) => {
    const { limits, resets_at } = limited.find((one) => one.scope === each.scope && one.period === each.period)!
    return { ...each, limits, resets_at }
  })
  const exceeded = findExceeded(all, wanted)
  if (!exceeded) return
  const whose = exceeded.scope === 'user' ? 'Your' : "The service's"
  throw new ChatError('rate_limited', {
    message: `${whose} quota of the assistant for this ${exceeded.period} is used up.`,
    retry_after_seconds: Math.max(1, Math.ceil((exceeded.resets_at - at) / SECOND)),
    quota: { ...exceeded, resets_at: toInstant(exceeded.resets_at) },
  })
}
