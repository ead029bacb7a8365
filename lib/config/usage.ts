import * as v from 'valibot'
import type { Config } from '../api/config.ts'
import { ROLE_NAME } from '../core/actor.ts'
import { MAX_LENGTH } from '../core/lengths.ts'
import { isDefaultOffered, namedAssistants } from './assistants.ts'
import { integer, key, oneOf, reloadableKey, section, text } from './key.ts'

/** In millionths of the currency, for a million tokens: a thousand units of it. */
const MAX_PRICE = 1_000_000_000

const MAX_PRICES = 1000

const price = integer(0, MAX_PRICE)

const model = v.pipe(
  text,
  v.nonEmpty('must not be empty'),
  v.maxLength(MAX_LENGTH.subject, `must have at most ${MAX_LENGTH.subject} characters`),
)

/** What a model costs, in millionths of the currency, for a million tokens. */
const Price = v.strictObject({ model, input: price, output: price, cached: v.optional(price) })
export type Price = v.InferOutput<typeof Price>

const PRICES_FORM = 'must be a list of tables with model, input, output and cached'

/** What models cost. */
export const PRICES = reloadableKey(
  v.pipe(
    v.array(Price, PRICES_FORM),
    v.maxLength(MAX_PRICES, `must have at most ${MAX_PRICES} tables`),
    v.check(
      (prices) => new Set(prices.map((each) => each.model)).size === prices.length,
      'must have each model only once',
    ),
  ),
  [] as Price[],
  'What models cost, as a list of tables with model, input, output and cached: for a million tokens, in millionths of usage.currency, so 3000000 for 3 USD. Without cached, tokens from the cache of the provider cost what the others do.',
)

/** More than any user or service uses, and so few that sums of it are exact. */
const MAX_LIMIT = 1_000_000_000_000

const MAX_QUOTAS = 200

const ROLE_FORM =
  'must be the name of a role in the service, "*" for users without a quota of a role of theirs, or service'

const limit = integer(0, MAX_LIMIT)

/** How much may be used in each day or month, in UTC. */
const Quota = v.strictObject({
  role: v.union([v.pipe(text, v.regex(ROLE_NAME, ROLE_FORM)), v.literal('*')], ROLE_FORM),
  period: oneOf('day', 'month'),
  answers: v.optional(limit),
  tokens: v.optional(limit),
  cost_micros: v.optional(limit),
})
export type Quota = v.InferOutput<typeof Quota>

const QUOTAS_FORM = 'must be a list of tables with role, period, and answers, tokens or cost_micros'

/** How the usage of the assistant is counted. */
export const UsageSection = section({
  currency: reloadableKey(
    v.pipe(text, v.regex(/^[A-Z]{3}$/, 'must be three capital letters, such as USD')),
    'USD',
    'The currency of prices.',
  ),
  keep_days: key(
    v.union([integer(62, 36_500), v.literal(false)], 'must be a whole number from 62 to 36500, or false'),
    400,
    'How long the usage of answers is kept, in whole months; false keeps it forever.',
    { unit: 'days' },
  ),
  reserve_tokens: reloadableKey(
    integer(0, 10_000_000),
    2000,
    'Tokens that each answer in progress has reserved of the quotas of its user and of the service, beside one answer and what these tokens cost as output.',
  ),
  quotas: reloadableKey(
    v.pipe(v.array(Quota, QUOTAS_FORM), v.maxLength(MAX_QUOTAS, `must have at most ${MAX_QUOTAS} tables`)),
    [] as Quota[],
    'How much of the assistant may be used, as a list of tables with role, period (day or month, in UTC), and answers, tokens or cost_micros: 429 beyond. The role is one in the service, "*" for users without a quota of a role of theirs, or service for all users together.',
  ),
})

/** Whether each of these models has a price. */
export function havePrices({ prices }: Pick<Config, 'prices'>, models: readonly (string | undefined)[]): boolean {
  return models.every((model) => prices.some((each) => each.model === model))
}

/** Quotas of costs where one of these models has no price: its answers cost nothing, and would use up none. */
export function unpricedQuotas(
  { prices, usage }: Pick<Config, 'prices' | 'usage'>,
  models: readonly (string | undefined)[],
): { key: string; message: string }[] {
  if (havePrices({ prices }, models)) return []
  return usage.quotas.flatMap(({ cost_micros }, index) => {
    const message = `entry ${index + 1} has cost_micros, and prices lacks the model of an assistant`
    return cost_micros === undefined ? [] : [{ key: 'usage.quotas', message }]
  })
}

/** Quotas of unknown roles, two for the same, and such of costs without a price. */
export function usageProblems(config: Config): { key: string; message: string }[] {
  const { access, assistant, usage } = config
  const roles = ['*', 'service', 'admin', 'member', 'read_only', 'guest', ...Object.keys(access.roles)]
  const named = namedAssistants(config)
  const models = [
    ...(named.length > 0 && !isDefaultOffered(config) ? [] : [assistant.model]),
    ...named.map(({ model }) => model),
  ]
  const messages = usage.quotas.flatMap(({ role, period, answers, tokens, cost_micros }, index) => {
    const isTwice = usage.quotas.findIndex((other) => other.role === role && other.period === period) < index
    const name = `entry ${index + 1}`
    if (!roles.includes(role)) return [`${name} has a role that is none of ${roles.join(', ')}`]
    if (isTwice) return [`${name} has the role and the period of another one`]
    if ((answers ?? tokens ?? cost_micros) === undefined) return [`${name} has none of answers, tokens and cost_micros`]
    return []
  })
  if (access.roles.service && usage.quotas.some(({ role }) => role === 'service'))
    messages.push('service is all users together here, and cannot be a role of access.roles, too')
  return [...messages.map((message) => ({ key: 'usage.quotas', message })), ...unpricedQuotas(config, models)]
}
