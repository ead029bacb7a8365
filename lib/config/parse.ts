import * as v from 'valibot'
import type { Config, ConfigInput } from '../api/config.ts'
import { entriesOf, nodeOf, type SchemaNode, schemaOf, unwrap } from '../core/schema-nodes.ts'
import { basePathProblems } from './base-path.ts'
import { isSection, type KeyNotes } from './key.ts'
import { mailProblems } from './mail.ts'
import { isProviderName, oauthProblems } from './oauth.ts'
import { ConfigSchema } from './schema.ts'

export type { Config, ConfigInput } from '../api/config.ts'

/** One configurable value, as the documentation shows it. */
export interface ConfigKey {
  /** `section.name`, as in the file. */
  key: string
  type: 'text' | 'integer' | 'boolean' | 'list' | 'table' | 'integer or false'
  /** The allowed values, if they are few. */
  choices?: readonly string[]
  /** Missing when the value is optional. */
  default?: unknown
  unit?: string
  description: string
  /**
   * Whether it must not be printed: `password` hides only the password of a URL, `header` only the value of a header.
   */
  secret: boolean | 'password' | 'header'
  /** Whether a running service takes another value when its configuration is reloaded. */
  reload: boolean
}

/** Why one key is refused; `key` is empty for the configuration as a whole. */
export interface ConfigProblem {
  key: string
  message: string
}

/** An invalid configuration. It has every problem, and none of the given values. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: ConfigProblem[]

  constructor(problems: ConfigProblem[]) {
    super(problems.map(({ key, message }) => (key ? `${key}: ${message}` : message)).join('\n'))
    this.problems = problems
  }
}

/**
 * The configuration described by `input`, any part of the schema, with every default filled in.
 *
 * It reads no file and no environment, and converts nothing: `'8080'` is not a port. Values that the compiler did not
 * check are checked like all others.
 *
 * @throws ConfigError with all problems, but contradictions only once every value is valid by itself
 */
export function parseConfig(input: ConfigInput = {}): Config {
  const problems = unknownKeys(input, ROOT, '')
  const parsed = v.safeParse(ConfigSchema, input, { abortPipeEarly: true })
  for (const issue of parsed.issues ?? []) {
    // A problem of an item is reported for its list, since the list is the configured key.
    const key = (v.getDotPath(issue) ?? '').replace(/\.\d+$/, '')
    if (!problems.some((problem) => problem.key === key)) problems.push({ key, message: issue.message })
  }
  if (!parsed.success || problems.length > 0) throw new ConfigError(problems)

  const config = withManualDefault(withCookieNames(parsed.output, input))
  assertConsistent(config)
  return config
}

/** @throws ConfigError when values contradict each other */
export function assertConsistent(config: Config): void {
  const contradictions = contradictionsOf(config)
  if (contradictions.length > 0) throw new ConfigError(contradictions)
}

/** Every key, in the order of the documentation. */
export function configKeys(): ConfigKey[] {
  return keysOf(ROOT, '')
}

/** A copy to print: secrets are masked, in a URL only the password, and in a header all but its name. */
export function maskSecrets(config: Config): Config {
  const mask = (value: unknown, key: string): unknown => {
    if (isSection(value))
      return Object.fromEntries(Object.entries(value).map(([k, x]) => [k, mask(x, joinKey(key, k))]))
    if (Array.isArray(value)) return value.map((item) => mask(item, key))
    const secret = findKey(key)?.secret
    if (typeof value !== 'string' || !secret) return value
    if (secret === 'header') return value.replace(/:.*/s, `: ${STARS}`)
    return secret === 'password' ? maskPassword(value) : STARS
  }
  return mask(config, '') as Config
}

/** The documentation of `key`; `oauth.github.client_id` is an instance of `oauth.<provider>.client_id`. */
export function findKey(key: string): ConfigKey | undefined {
  return configKeys().find((candidate) => withNamesOf(candidate.key, key) === key)
}

/** The key, or section, with the spelling closest to `key`; `undefined` if none is close. */
export function nearestKey(key: string): string | undefined {
  if (key.length > 100) return undefined
  const limit = Math.max(2, key.length / 4)
  const known = configKeys()
    .map((each) => withNamesOf(each.key, key))
    .flatMap((each) => [each, each.slice(0, each.lastIndexOf('.'))])
  const near = [...new Set(known)]
    .map((candidate) => ({ candidate, far: distance(key, candidate) }))
    .filter(({ far }) => far <= limit)
    .sort((a, b) => a.far - b.far)[0]
  // The right name in the wrong section has a large distance: `port` for `server.port`.
  return near?.candidate ?? known.find((candidate) => lastOf(candidate) === lastOf(key))
}

const ROOT = nodeOf(ConfigSchema)

const STARS = '********'

/** Stands for the free name; there is one such section, the providers of `oauth`. */
const ANY_NAME = '<provider>'

/** `key` with the name of `other` in place of the free name. */
function withNamesOf(key: string, other: string): string {
  const [section, name] = key.split(`.${ANY_NAME}.`)
  if (name === undefined || !other.startsWith(`${section}.`)) return key
  const [given, inside] = other.slice(section!.length + 1).split('.')
  return inside !== undefined && isProviderName(given!) ? `${section}.${given}.${name}` : key
}

function keysOf(node: SchemaNode, key: string): ConfigKey[] {
  const entries = entriesOf(node)
  if (entries) {
    const named = Object.entries(entries).flatMap(([name, child]) => keysOf(child, joinKey(key, name)))
    const rest = unwrap(node).rest
    return rest ? [...named, ...keysOf(rest, joinKey(key, ANY_NAME))] : named
  }
  const { description, unit, secret, reload } = v.getMetadata(schemaOf(node)) as unknown as KeyNotes
  return [
    {
      key,
      type: typeOf(node.wrapped!),
      ...(node.wrapped!.type === 'picklist' && { choices: node.wrapped!.options as string[] }),
      ...(node.default !== undefined && { default: node.default }),
      ...(unit && { unit }),
      description,
      secret: secret ?? false,
      reload: reload ?? false,
    },
  ]
}

function typeOf(node: SchemaNode): ConfigKey['type'] {
  if (node.type === 'number') return 'integer'
  if (node.type === 'boolean') return 'boolean'
  if (node.type === 'array') return 'list'
  if (node.type === 'custom' || node.type === 'record') return 'table'
  return node.type === 'union' ? 'integer or false' : 'text'
}

/** Problems that valibot does not report, or reports one at a time: unknown keys and sections of the whole input. */
function unknownKeys(input: unknown, node: SchemaNode, key: string): ConfigProblem[] {
  const entries = entriesOf(node)
  if (!entries || (input === undefined && key)) return []
  if (!isSection(input)) return [{ key, message: key ? 'must be a section with keys' : 'must be an object' }]
  return Object.keys(input).flatMap((name) => {
    const child = joinKey(key, name)
    if (Object.hasOwn(entries, name)) return unknownKeys(input[name], entries[name]!, child)
    const rest = isProviderName(name) && isSection(input[name]) ? unwrap(node).rest : undefined
    if (rest) return unknownKeys(input[name], rest, child)
    const nearest = nearestKey(child)
    return [{ key: child, message: nearest ? `unknown key, did you mean ${nearest}?` : 'unknown key' }]
  })
}

/**
 * Sets the names of the cookies to those in effect: a prefix stands before the names that are not set, and the CSRF
 * cookie has two keys.
 */
function withCookieNames(config: Config, input: ConfigInput): Config {
  const { prefix } = config.security.cookie
  const old = input.session?.csrf_cookie_name
  const name = input.security?.csrf?.cookie_name ?? old ?? prefix + config.security.csrf.cookie_name
  if (old !== undefined && old !== name) {
    throw new ConfigError([
      { key: 'session.csrf_cookie_name', message: 'differs from security.csrf.cookie_name; set one of the two' },
    ])
  }
  const session_cookie_name = input.session?.session_cookie_name ?? prefix + config.session.session_cookie_name
  const csrf = { ...config.security.csrf, cookie_name: name }
  const session = { ...config.session, session_cookie_name, csrf_cookie_name: name }
  return { ...config, session, security: { ...config.security, csrf } }
}

/** Manual code entry is for development: enabled by default unless the service has a public HTTPS address. */
function withManualDefault(config: Config): Config {
  const { manual_enabled = !/^https:/i.test(config.server.public_url ?? '') } = config.oauth
  return { ...config, oauth: { ...config.oauth, manual_enabled } }
}

/** Values that are valid one by one but contradict each other. */
function contradictionsOf(config: Config): ConfigProblem[] {
  const { assistant, backup, database, server, session, security } = config
  const { cookie, csrf } = security
  const problems = [...basePathProblems(config), ...oauthProblems(config), ...mailProblems(config)]
  if (database.schema && database.url.startsWith('sqlite:')) {
    problems.push({ key: 'database.schema', message: 'is for PostgreSQL: with SQLite set database.prefix' })
  }
  if (assistant.provider === 'openai' && assistant.model === undefined) {
    problems.push({ key: 'assistant.model', message: 'must be set when assistant.provider is openai' })
  }
  if (backup.schedule !== undefined && backup.target === undefined) {
    problems.push({ key: 'backup.target', message: 'must be set for backup.schedule' })
  }
  if (backup.passphrase !== undefined && backup.recipient !== undefined) {
    problems.push({ key: 'backup.recipient', message: 'and backup.passphrase exclude each other' })
  }
  if (server.socket !== undefined && config.cluster.workers > 1) {
    problems.push({ key: 'server.socket', message: 'and cluster.workers exclude each other' })
  }
  if (server.headers_timeout_seconds > server.request_timeout_seconds) {
    problems.push({
      key: 'server.headers_timeout_seconds',
      message: 'must not be more than server.request_timeout_seconds',
    })
  }
  if (session.idle_seconds > session.absolute_seconds) {
    problems.push({ key: 'session.idle_seconds', message: 'must not be more than session.absolute_seconds' })
  }
  if (session.session_cookie_name === csrf.cookie_name) {
    problems.push({ key: 'session.session_cookie_name', message: 'must differ from security.csrf.cookie_name' })
  }
  const binding = `${cookie.prefix}OAUTH_BINDING`
  const others = [`${session.session_cookie_name}-DEVICE`, binding, `__Host-${binding}`]
  if (others.includes(csrf.cookie_name)) {
    problems.push({ key: 'security.csrf.cookie_name', message: 'is the name of another cookie of the service' })
  }
  if (others.includes(session.session_cookie_name)) {
    problems.push({ key: 'session.session_cookie_name', message: 'is the name of another cookie of the service' })
  }
  if (cookie.same_site === 'none' && !cookie.secure) {
    problems.push({ key: 'security.cookie.same_site', message: 'none needs security.cookie.secure = true' })
  }
  const names = {
    'session.session_cookie_name': session.session_cookie_name,
    'security.csrf.cookie_name': csrf.cookie_name,
  }
  for (const [key, name] of Object.entries(names)) {
    if (!cookie.secure && /^__(host|secure|http)-/i.test(name)) {
      problems.push({ key, message: 'begins with a prefix that needs security.cookie.secure = true' })
    } else if (cookie.domain && /^__host-/i.test(name)) {
      problems.push({ key, message: 'begins with __Host-, which allows no security.cookie.domain' })
    } else if (name === csrf.cookie_name && /^__(host-)?http-/i.test(name)) {
      problems.push({
        key,
        message: 'begins with a prefix that hides the cookie from scripts, which must read this one',
      })
    }
  }
  return problems
}

function maskPassword(address: string): string {
  // Up to the last @: an unescaped password may contain any of `:/?@` itself.
  return address.replace(/^(\w+:\/\/[^:]*:).*@/, `$1${STARS}@`).replace(/(password=)[^&]*/gi, `$1${STARS}`)
}

function joinKey(section: string, name: string): string {
  return section ? `${section}.${name}` : name
}

function lastOf(key: string): string {
  return key.slice(key.lastIndexOf('.') + 1)
}

/** The number of letters to insert, delete or replace (Levenshtein). */
export function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i)
  for (const [i, letter] of [...from].entries()) {
    const next = [i + 1]
    for (let j = 0; j < to.length; j++) {
      next.push(Math.min(row[j]! + Number(letter !== to[j]), row[j + 1]! + 1, next[j]! + 1))
    }
    row = next
  }
  return row[to.length]!
}
