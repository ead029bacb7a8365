import * as v from 'valibot'
import { MAX_LENGTH } from '../core/lengths.ts'
import { integer, key, reloadableKey, section, text } from './key.ts'

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
})
