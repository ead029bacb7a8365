import {
  type AssistantConfig,
  DEFAULT_KEY,
  defaultAssistant,
  inheriting,
  isAssistantKey,
  isDefaultOffered,
  namedAssistants,
  problemOfNamed,
} from '../config/assistants.ts'
import { type Config, ConfigError } from '../config/parse.ts'
import { unpricedQuotas } from '../config/usage.ts'
import type { Ports } from '../ports.ts'
import { createAssistant } from './create.ts'
import type { Assistant, HostedAssistant } from './provider.ts'
import { createTools } from './tools/create.ts'
import type { Tool } from './tools/tool.ts'

type Tools = ReadonlyMap<string, Tool>

/** An assistant of the service: what pages show of it, what it gets, and what writes its answers. */
export interface AssistantSettings
  extends Omit<AssistantConfig, 'provider' | 'base_url' | 'api_key' | 'headers' | 'tools'> {
  /** What it may use, in the order of its setting. */
  tools: readonly Tool[]
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
  /** The models of all that write answers. */
  readonly models: readonly (string | undefined)[]
  /** An offered one. */
  find(key: string): AssistantSettings | undefined
  /** A tool by its name. */
  findTool(name: string): Tool | undefined
  /** Whether `@` and a key in the text of a person ask. */
  readonly inTexts: boolean
}

/**
 * The assistants that the configuration and the host name.
 *
 * @throws ConfigError for a tool in their settings that does not exist, for a schema of a tool that cannot be read, and for a
 *   quota of costs where a model has no price
 * @throws TypeError for an assistant, or a tool, that a host names wrongly
 */
export function createAssistants(config: Config, ports: Ports): Assistants {
  const { assistant, assistants = {} } = ports
  const tools = createTools(config, ports)
  const settings = namedAssistants(config).filter(({ key }) => !Object.hasOwn(assistants, key))
  assertTools([defaultAssistant(config), ...settings], tools)
  const own = ofDefault(config, tools, assistant)
  const isOffered = assistant !== undefined || isDefaultOffered(config)
  const named = new Map(settings.map((each) => [each.key, configured(each, tools)]))
  for (const [key, each] of Object.entries(assistants)) named.set(key, hosted(config, tools, key, each))
  const offered = [...(isOffered ? [own!] : []), ...named.values()]
  const models = (offered.length > 0 ? offered : own ? [own] : []).map(({ model }) => model)
  const unpriced = unpricedQuotas(config, models)
  if (unpriced.length > 0) throw new ConfigError(unpriced)
  const byKey = new Map(offered.map((each) => [each.key, each]))
  return {
    offered,
    fallback: offered[0] ?? own,
    models,
    find: (key) => byKey.get(key),
    findTool: (name) => tools.get(name),
    inTexts: true,
  }
}

/** @throws ConfigError */
function assertTools(assistants: AssistantConfig[], tools: Tools): void {
  const problems = assistants.flatMap(({ key, tools: names }) => {
    const unknown = names.find((name) => !tools.has(name))
    if (unknown === undefined) return []
    const path = key === DEFAULT_KEY ? key : `assistants.${key}`
    return [{ key: `${path}.tools`, message: unknownTool(tools) }]
  })
  // A tool that an assistant inherits is a problem of the section that has it.
  const own = problems.filter(({ message }, n) => n === 0 || message !== problems[0]!.message)
  if (own.length > 0) throw new ConfigError(own)
}

function unknownTool(tools: Tools): string {
  const names = [...tools.keys()]
  const known = names.length > 0 ? `the tools are ${names.join(', ')}` : 'there are no tools'
  return `must have names of tools: ${known}`
}

function ofDefault(config: Config, tools: Tools, assistant: Assistant | undefined): AssistantSettings | undefined {
  const settings = defaultAssistant(config)
  if (assistant) return { ...shownOf(settings, tools), write: assistant }
  return settings.provider === 'none' ? undefined : configured(settings, tools)
}

// `parseConfig` refuses a section of which the provider is `none`.
const configured = (settings: AssistantConfig, tools: Tools): AssistantSettings => ({
  ...shownOf(settings, tools),
  write: createAssistant(settings)!,
})

/** @throws TypeError for a key or a setting that no assistant can have */
function hosted(config: Config, tools: Tools, key: string, { provider, ...rest }: HostedAssistant): AssistantSettings {
  const where = `createChatService: "assistants.${key}"`
  if (!isAssistantKey(key)) throw new TypeError(`${where} must have a key such as "helper", and not "${DEFAULT_KEY}"`)
  const isFunction = typeof provider === 'function'
  const problem = problemOfNamed(isFunction ? rest : { ...rest, provider })
  if (problem) throw new TypeError(`${where}: ${problem.key} ${problem.message}`)
  const settings = inheriting(config, key, isFunction ? rest : { ...rest, provider })
  const unknown = settings.tools.find((name) => !tools.has(name))
  if (unknown !== undefined) throw new TypeError(`${where}: tools ${unknownTool(tools)}`)
  if (isFunction) return { ...shownOf(settings, tools), write: provider }
  if (settings.provider === 'openai' && settings.model === undefined)
    throw new TypeError(`${where}: model must be set when its provider is openai`)
  const write = createAssistant(settings)
  if (!write) throw new TypeError(`${where}: provider must be a function, or "echo" or "openai"`)
  return { ...shownOf(settings, tools), write }
}

function shownOf(
  {
    provider: _provider,
    base_url: _base_url,
    api_key: _api_key,
    headers: _headers,
    tools: names,
    ...settings
  }: AssistantConfig,
  tools: Tools,
): Omit<AssistantSettings, 'write'> {
  return { ...settings, tools: names.map((name) => tools.get(name)!) }
}
