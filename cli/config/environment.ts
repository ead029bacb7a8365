import type { ConfigProblem } from '../../lib/config/contradictions.ts'
import { type ConfigKey, configKeys, findKey, nearestKey } from '../../lib/config/reference.ts'
import { collect, readSecretFile, type SecretFile } from './secrets.ts'

/** The keys that the environment sets, with errors and warnings. */
export interface Environment {
  /** By key. */
  values: Map<string, { name: string; value: unknown }>
  problems: ConfigProblem[]
  warnings: string[]
  /** The files that variables ending in _FILE name. */
  files: SecretFile[]
}

/** Variables that set no configuration key. */
const OTHER_VARIABLES = ['CHAT_CONFIG', 'CHAT_PASSWORD']

/** The variable that sets `key`: `session.idle_seconds` is CHAT_SESSION__IDLE_SECONDS. */
export function variableName(key: string): string {
  return `CHAT_${key.toUpperCase().replaceAll('.', '__')}`
}

/** Reads every CHAT_… variable. An empty variable counts as set: it is an empty text, and not a number. */
export function readEnvironment(env: NodeJS.ProcessEnv): Environment {
  const environment: Environment = { values: new Map(), problems: [], warnings: [], files: [] }
  for (const [name, text = ''] of Object.entries(env)) {
    const key = keyOf(name)
    const secret = key ? undefined : secretOf(name)
    if (key) environment.values.set(key.key, { name, value: toTyped(key, text) })
    else if (secret && env[name.slice(0, -'_FILE'.length)] !== undefined)
      environment.problems.push({
        key: name,
        message: `is set beside ${name.slice(0, -'_FILE'.length)}: set one of the two`,
      })
    else if (secret)
      collect(environment.problems, () => {
        const file = readSecretFile(secret, text, name)
        environment.files.push(file)
        environment.values.set(secret.key, { name, value: file.value })
      })
    else if (/^CHAT_.*__/.test(name)) environment.problems.push({ key: name, message: unknownVariable(name) })
    else if (/^CHAT_/.test(name) && !OTHER_VARIABLES.includes(name) && !isOfKubernetes(name, env)) {
      environment.warnings.push(`${name} in the environment sets nothing: sections are followed by two underscores.`)
    }
  }
  return environment
}

/**
 * Kubernetes puts the addresses of every service of the namespace into each pod; for a service called "chat" or "chat-…",
 * these are CHAT_SERVICE_HOST, CHAT_PORT, CHAT_PORT_8080_TCP_ADDR, CHAT_SERVER_PORT, …
 */
function isOfKubernetes(name: string, env: NodeJS.ProcessEnv): boolean {
  return Object.keys(env).some((other) => {
    const service = /^(CHAT\w*)_SERVICE_HOST$/.exec(other)?.[1]
    if (service === undefined || !name.startsWith(`${service}_`)) return false
    return /^(SERVICE_HOST|(SERVICE_)?PORT(_\w+)?)$/.test(name.slice(service.length + 1))
  })
}

/** The secret of which a variable such as CHAT_METRICS__TOKEN_FILE names the file. */
function secretOf(variable: string): ConfigKey | undefined {
  const key = variable.endsWith('_FILE') ? keyOf(variable.slice(0, -'_FILE'.length)) : undefined
  return key?.secret ? key : undefined
}

/** The key that a variable sets; a free name in the key, such as a provider's, is taken from the variable. */
function keyOf(variable: string): ConfigKey | undefined {
  for (const key of configKeys()) {
    const [shown] = /<.*>/.exec(key.key) ?? []
    if (shown === undefined) {
      if (variable === variableName(key.key)) return key
      continue
    }
    const [before, after] = variableName(key.key).split(shown.toUpperCase())
    if (!variable.startsWith(before!) || !variable.endsWith(after!)) continue
    const name = variable.slice(before!.length, -after!.length).toLowerCase()
    const named = key.key.replace(shown, name)
    if (findKey(named)?.key === key.key) return { ...key, key: named }
  }
  return undefined
}

/** Parses `text` as a value of the type. Invalid text is returned unchanged, so that validation refuses it. */
export function toTyped({ type }: Pick<ConfigKey, 'type'>, text: string): unknown {
  if (type === 'table') return fromJson(text)
  if (type === 'list') return listOf(text)
  if (type === 'list of integers') return listOf(text).map(toNumber)
  if (type === 'boolean' && text === 'true') return true
  if ((type === 'boolean' || type === 'integer or false') && text === 'false') return false
  return type.startsWith('integer') ? toNumber(text) : text
}

function listOf(text: string): string[] {
  return text === '' ? [] : text.split(',').map((item) => item.trim())
}

function toNumber(text: string): number | string {
  return /^-?\d+$/.test(text) ? Number(text) : text
}

/** Invalid JSON is returned unchanged, so that validation refuses it. */
function fromJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function unknownVariable(name: string): string {
  const nearest = nearestKey(name.slice('CHAT_'.length).toLowerCase().replaceAll('__', '.'))
  const section = configKeys().find((candidate) => candidate.key.startsWith(`${nearest}.`))?.key
  const key = nearest !== undefined && findKey(nearest) ? nearest : section
  return key ? `unknown variable, did you mean ${variableName(key)}?` : 'unknown variable'
}
