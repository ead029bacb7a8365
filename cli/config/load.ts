import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { ConfigProblem } from '../../lib/config/contradictions.ts'
import { type Config, ConfigError, type ConfigInput, parseConfig } from '../../lib/config/parse.ts'
import { configKeys } from '../../lib/config/reference.ts'
import { readEnvironment, toTyped } from './environment.ts'
import { type ConfigFile, findLine, readConfigFile } from './file.ts'
import { credentialsIn, fileSecretsIn, type SecretFile } from './secrets.ts'

/** Read if it exists and neither `--config` nor CHAT_CONFIG is set. */
export const DEFAULT_FILE = 'chat-server.toml'

/** The flags that set a key, and the flag with the file's path. */
export interface ConfigFlags {
  config?: string | undefined
  database?: string | undefined
  host?: string | undefined
  port?: string | undefined
  workers?: string | undefined
  socket?: string | undefined
  /** False with `--no-web`. */
  web?: boolean | undefined
}

/** The configuration of the process and its source. */
export interface LoadedConfig {
  config: Config
  /** The file that was read, if any. */
  file?: string
  /** The files that secrets were read from. */
  secret_files?: SecretFile[]
  /** Possible mistakes that do not prevent the start. */
  warnings: string[]
}

const FLAG_KEYS = {
  database: 'database.url',
  host: 'server.host',
  port: 'server.port',
  socket: 'server.socket',
  workers: 'cluster.workers',
} as const

/**
 * The configuration of this process: the defaults, over them the file, the credentials of systemd, the environment and the
 * flags.
 *
 * @throws ConfigError with each invalid key and its line, variable or flag
 */
export function loadConfig(flags: ConfigFlags, env: NodeJS.ProcessEnv = process.env): LoadedConfig {
  const file = findFile(flags, env)
  const environment = readEnvironment(env)
  const inFile = fileSecretsIn(file?.content ?? {})
  const credentials = credentialsIn(env.CREDENTIALS_DIRECTORY)
  const sources = new Map<string, string>()
  let input = inFile.content
  const set = (key: string, value: unknown, source: string) => {
    input = withValue(input, key.split('.'), value)
    sources.set(key, source)
  }
  for (const { key, path, value } of [...inFile.files, ...credentials.files]) set(key, value, path)
  for (const [key, { name, value }] of environment.values) set(key, value, name)
  for (const { flag, key, value } of readFlags(flags)) set(key, value, flag)
  if (flags.web === false) set('server.web', false, '--no-web')

  const sourceOf = (key: string) => sources.get(key) ?? (file && placeIn(file, key))
  const { config: read, problems } = check(input, sourceOf)
  const config = read && withSchemaFiles(withDefaults(read), file?.path)
  const unread = [environment, inFile, credentials].flatMap((source) => source.problems)
  if (!config || unread.length > 0) throw new ConfigError([...unread, ...problems])
  const secret_files = [inFile, credentials, environment].flatMap((source) => source.files)
  const warnings = [...environment.warnings, ...warnOfSecrets(flags)]
  return { config, ...(file && { file: file.path }), ...(secret_files.length > 0 && { secret_files }), warnings }
}

/**
 * Messages can have files, users bots, and conversations hooks, unless that is turned off. A database in memory has no files: they would outlive
 * it.
 */
function withDefaults(config: Config): Config {
  const { enabled = config.database.url !== 'sqlite::memory:' } = config.attachments
  const { enabled: hasBots = true } = config.bots
  const { enabled: hasHooks = true } = config.hooks
  return {
    ...config,
    attachments: { ...config.attachments, enabled },
    bots: { ...config.bots, enabled: hasBots },
    hooks: { ...config.hooks, enabled: hasHooks },
  }
}

/** The schemas of tools are beside the configuration file, wherever the process was started; without one, where that was. */
function withSchemaFiles(config: Config, file = ''): Config {
  const tools = Object.entries(config.tools).map(([name, { schema_file, ...rest }]) => {
    return [name, { ...rest, ...(schema_file !== undefined && { schema_file: resolve(dirname(file), schema_file) }) }]
  })
  return { ...config, tools: Object.fromEntries(tools) }
}

/** Every user of the machine can read the arguments of a process. */
function warnOfSecrets({ database }: ConfigFlags): string[] {
  if (!/^\w+:\/\/[^@/]*:[^@/]+@|[?&]password=/i.test(database ?? '')) return []
  return ['--database has a password, which every user of this machine can read: set it in CHAT_DATABASE__URL instead.']
}

function check(input: unknown, sourceOf: (key: string) => string | undefined) {
  try {
    const config = parseConfig(input as ConfigInput)
    assertSharable(config)
    return { config, problems: [] }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return { problems: error.problems.map((problem) => located(problem, sourceOf(problem.key))) }
  }
}

/** Not part of `parseConfig`: a host that opens its storage itself may leave `database.url` out. */
function assertSharable({ cluster, database }: Config): void {
  if (cluster.workers === 1 || !database.url.startsWith('sqlite:')) return
  const message = 'must be 1 with SQLite, because one process writes its file; move to PostgreSQL for more'
  throw new ConfigError([{ key: 'cluster.workers', message }])
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

/** `input` with one value changed. A value that is not a section stays, so that validation reports it. */
function withValue(input: unknown, [name, ...rest]: string[], value: unknown): unknown {
  if (name === undefined) return value
  if (input !== undefined && (typeof input !== 'object' || input === null || Array.isArray(input))) return input
  return { ...input, [name]: withValue((input as Record<string, unknown> | undefined)?.[name], rest, value) }
}

function located({ key, message }: ConfigProblem, source: string | undefined): ConfigProblem {
  return { key, message: source ? `${message} (${source})` : message }
}

function placeIn(file: ConfigFile, key: string): string {
  const line = findLine(file.text, key)
  return line ? `${file.path}, line ${line}` : file.path
}
