import {
  type AssistantConfig,
  DEFAULT_KEY,
  defaultAssistant,
  inheriting,
  isAssistantKey,
  namedAssistants,
  problemOfNamed,
} from '../config/assistants.ts'
import type { Config } from '../config/parse.ts'
import type { Ports } from '../ports.ts'
import { createAssistant } from './create.ts'
import type { Assistant, HostedAssistant } from './provider.ts'

/** An assistant of the service: what pages show of it, what it gets, and what writes its answers. */
export interface AssistantSettings
  extends Omit<AssistantConfig, 'provider' | 'base_url' | 'model' | 'api_key' | 'headers'> {
  write: Assistant
}

/** The assistants of a service. */
export interface Assistants {
  /** What pages offer, the default first. */
  readonly offered: readonly AssistantSettings[]
  /**
   * Writes what is asked of none of them: the default or, if that is not offered, the first one. Without any it is the echo,
   * or `undefined` where `assistant.provider` is `none`.
   */
  readonly fallback: AssistantSettings | undefined
  /** An offered one. */
  find(key: string): AssistantSettings | undefined
  /** Whether `@` and a key in the text of a person ask. */
  readonly inTexts: boolean
}

/** The assistants that the configuration and the host name. */
export function createAssistants(config: Config, { assistant, assistants = {} }: Ports): Assistants {
  const own = ofDefault(config, assistant)
  const isOffered = assistant !== undefined || (config.assistant.provider ?? 'none') !== 'none'
  const named = new Map(namedAssistants(config).map((each) => [each.key, configured(each)]))
  for (const [key, each] of Object.entries(assistants)) named.set(key, hosted(config, key, each))
  const offered = [...(isOffered ? [own!] : []), ...named.values()]
  const byKey = new Map(offered.map((each) => [each.key, each]))
  return { offered, fallback: offered[0] ?? own, find: (key) => byKey.get(key), inTexts: true }
}

function ofDefault(config: Config, assistant: Assistant | undefined): AssistantSettings | undefined {
  const settings = defaultAssistant(config)
  if (assistant) return { ...shownOf(settings), write: assistant }
  return settings.provider === 'none' ? undefined : configured(settings)
}

// `parseConfig` refuses a section of which the provider is `none`.
const configured = (settings: AssistantConfig): AssistantSettings => ({
  ...shownOf(settings),
  write: createAssistant(settings)!,
})

/** @throws TypeError for a key or a setting that no assistant can have */
function hosted(config: Config, key: string, { provider, ...rest }: HostedAssistant): AssistantSettings {
  const where = `createChatService: "assistants.${key}"`
  if (!isAssistantKey(key)) throw new TypeError(`${where} must have a key such as "helper", and not "${DEFAULT_KEY}"`)
  const isFunction = typeof provider === 'function'
  const problem = problemOfNamed(isFunction ? rest : { ...rest, provider })
  if (problem) throw new TypeError(`${where}: ${problem.key} ${problem.message}`)
  if (isFunction) return { ...shownOf(inheriting(config, key, rest)), write: provider }
  const settings = inheriting(config, key, { ...rest, provider })
  if (settings.provider === 'openai' && settings.model === undefined)
    throw new TypeError(`${where}: model must be set when its provider is openai`)
  const write = createAssistant(settings)
  if (!write) throw new TypeError(`${where}: provider must be a function, or "echo" or "openai"`)
  return { ...shownOf(settings), write }
}

function shownOf({
  provider: _provider,
  base_url: _base_url,
  model: _model,
  api_key: _api_key,
  headers: _headers,
  ...settings
}: AssistantConfig): Omit<AssistantSettings, 'write'> {
  return settings
}
