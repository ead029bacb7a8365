import { namedAssistants } from '../../config/assistants.ts'
import type { Config } from '../../config/parse.ts'
import type { Price } from '../../config/usage.ts'

/** The models of the assistants that a host names in code, by key. */
export type Hosted = Readonly<Record<string, { model?: string | undefined }>>

/** The model of an assistant, '' if none is configured, and what it costs. */
export function modelOf(config: Config, key: string, hosted: Hosted = {}): { model: string; price: Price | undefined } {
  const own = hosted[key]?.model ?? namedAssistants(config).find((each) => each.key === key)?.model
  const model = own ?? config.assistant.model ?? ''
  return { model, price: config.prices.find((each) => each.model === model) }
}
