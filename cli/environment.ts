import { type ConfigKey, type ConfigProblem, configKeys, nearestKey } from '../lib/config.ts'

/** What the environment sets, and what in it looks wrong. */
export interface Environment {
  /** By key. */
  values: Map<string, { name: string; value: unknown }>
  problems: ConfigProblem[]
  warnings: string[]
}

/** Variables that are no key of the configuration. */
const OTHER_VARIABLES = ['CHAT_CONFIG', 'CHAT_PASSWORD']

/** The variable that sets `key`: `session.idle_seconds` is CHAT_SESSION__IDLE_SECONDS. */
export function variableName(key: string): string {
  return `CHAT_${key.toUpperCase().replaceAll('.', '__')}`
}

/** Every CHAT_… variable. One that is set to nothing is set: it gives an empty text, and is no number. */
export function readEnvironment(env: NodeJS.ProcessEnv): Environment {
  const keys = new Map(configKeys().map((key) => [variableName(key.key), key]))
  const found: Environment = { values: new Map(), problems: [], warnings: [] }
  for (const [name, text = ''] of Object.entries(env)) {
    const key = keys.get(name)
    if (key) found.values.set(key.key, { name, value: toTyped(key, text) })
    else if (/^CHAT_.*__/.test(name)) found.problems.push({ key: name, message: unknownVariable(name) })
    else if (/^CHAT_/.test(name) && !OTHER_VARIABLES.includes(name)) {
      found.warnings.push(`${name} in the environment sets nothing: sections are followed by two underscores.`)
    }
  }
  return found
}

/** The value that `text` stands for where only text can be given. Text of another type stays as it is, to be refused. */
export function toTyped({ type }: Pick<ConfigKey, 'type'>, text: string): unknown {
  if (type === 'list') return text === '' ? [] : text.split(',').map((item) => item.trim())
  if (type.startsWith('integer') && /^-?\d+$/.test(text)) return Number(text)
  if (type === 'boolean' && text === 'true') return true
  if ((type === 'boolean' || type === 'integer or false') && text === 'false') return false
  return text
}

function unknownVariable(name: string): string {
  const nearest = nearestKey(name.slice('CHAT_'.length).toLowerCase().replaceAll('__', '.'))
  const key = configKeys().find((candidate) => candidate.key === nearest || candidate.key.startsWith(`${nearest}.`))
  return key ? `unknown variable, did you mean ${variableName(key.key)}?` : 'unknown variable'
}
