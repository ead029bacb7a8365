import { havePrices, type Price } from '../../config/usage.ts'
import type { Context } from '../../context.ts'

/** What the models of assistants cost is read from. */
export type PricedContext = Pick<Context, 'config' | 'assistants'>

/**
 * The model of an assistant, '' if none is configured, and what it costs.
 *
 * @param key `null` for what is asked of none; as an assistant that no longer exists it is the one that answers instead
 */
export function modelOf(
  { config, assistants }: PricedContext,
  key: string | null,
): { model: string; price: Price | undefined } {
  const assistant = (key === null ? undefined : assistants.find(key)) ?? assistants.fallback
  const model = assistant?.model ?? config.assistant.model ?? ''
  return { model, price: config.prices.find((each) => each.model === model) }
}

/** Whether all models that write answers have prices: a limit of costs that are always 0 would limit nothing. */
export function arePriced({ config, assistants }: PricedContext): boolean {
  return havePrices(config, assistants.models)
}
