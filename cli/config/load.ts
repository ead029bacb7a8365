import { existsSync } from 'node:fs'
import { type Config, ConfigError, type ConfigProblem, configKeys, parseConfig } from '../../lib/config/parse.ts'
import { readEnvironment, toTyped } from './environment.ts'
import { type ConfigFile, lineOf, readConfigFile } from './file.ts'

/** Read when it is there, and neither `--config` nor CHAT_CONFIG names another. */
export const DEFAULT_FILE = 'chat-server.toml'

/** The flags that set a key, and the one that names the file. */
export interface ConfigFlags {
  config?: string | undefined
  database?: string | undefined
  host?: string | undefined
  port?: string | undefined
}

/** What the process is configured with, and where that came from. */
export interface LoadedConfig {
  config: Config
  /** The file that was read, if any. */
  file?: string
  /** What may not be what was meant, but stops nothing. */
  warnings: string[]
}

const FLAG_KEYS = { database: 'database.url', host: 'server.host', port: 'server.port' } as const

/**
 * The configuration of this process: the defaults, over them the file, the environment and the flags.
 *
 * @throws ConfigError naming each key at fault, with the line, the variable or the flag it came from
 */
export function loadConfig(flags: ConfigFlags, env: NodeJS.ProcessEnv = process.env): LoadedConfig {
  const file = findFile(flags, env)
  const environment = readEnvironment(env)
  const sources = new Map<string, string>()
  let input: unknown = file?.content ?? {}
  const set = (key: string, value: unknown, source: string) => {
    input = withValue(input, key.split('.'), value)
    sources.set(key, source)
  }
  for (const [key, { name, value }] of environment.values) set(key, value, name)
  for (const { flag, key, value } of readFlags(flags)) set(key, value, flag)

  const whence = (key: string) => sources.get(key) ?? (file && placeIn(file, key))
  const { config, problems } = check(input, whence)
  if (!config || environment.problems.length > 0) throw new ConfigError([...environment.problems, ...problems])
  return { config, ...(file && { file: file.path }), warnings: [...environment.warnings, ...warnOfSecrets(flags)] }
}

/** What is in the arguments of a process, everybody on the machine can read. */
function warnOfSecrets({ database }: ConfigFlags): string[] {
  if (!/^\w+:\/\/[^@/]*:[^@/]+@|[?&]password=/i.test(database ?? '')) return []
  return [
    '--database has a password, which every user of this machine can read: give it in CHAT_DATABASE__URL instead.',
  ]
}

function check(input: unknown, whence: (key: string) => string | undefined) {
  try {
    return { config: parseConfig(input), problems: [] }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return { problems: error.problems.map((problem) => located(problem, whence(problem.key))) }
  }
}

function findFile(flags: ConfigFlags, env: NodeJS.ProcessEnv): ConfigFile | undefined {
  const path = flags.config ?? env.CHAT_CONFIG ?? (existsSync(DEFAULT_FILE) ? DEFAULT_FILE : undefined)
  return path === undefined ? undefined : readConfigFile(path)
}

function readFlags(flags: ConfigFlags): { flag: string; key: string; value: unknown }[] {
  return Object.entries(FLAG_KEYS).flatMap(([name, key]) => {
    const text = flags[name as keyof typeof FLAG_KEYS]
    const { type } = configKeys().find((candidate) => candidate.key === key)!
    return text === undefined ? [] : [{ flag: `--${name}`, key, value: toTyped({ type }, text) }]
  })
}

/** `input` with one value changed. What is no section stays, to be refused under its own name. */
function withValue(input: unknown, [name, ...rest]: string[], value: unknown): unknown {
  if (name === undefined) return value
  if (input !== undefined && (typeof input !== 'object' || input === null || Array.isArray(input))) return input
  return { ...input, [name]: withValue((input as Record<string, unknown> | undefined)?.[name], rest, value) }
}

function located({ key, message }: ConfigProblem, source: string | undefined): ConfigProblem {
  return { key, message: source ? `${message} (${source})` : message }
}

function placeIn(file: ConfigFile, key: string): string {
  const line = lineOf(file.text, key)
  return line ? `${file.path}, line ${line}` : file.path
}
