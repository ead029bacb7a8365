import * as v from 'valibot'
import type { Config, ConfigInput } from '../api/config.ts'
import { entriesOf, type SchemaNode, unwrap } from '../core/schema-nodes.ts'
import { type ConfigProblem, findContradictions } from './contradictions.ts'
import { FREE_NAMES } from './free-names.ts'
import { isSection } from './key.ts'
import { joinKey, nearestKey, ROOT } from './reference.ts'
import { ConfigSchema } from './schema.ts'

export type { Config, ConfigInput } from '../api/config.ts'

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
  const contradictions = findContradictions(config)
  if (contradictions.length > 0) throw new ConfigError(contradictions)
}

/** Problems that valibot does not report, or reports one at a time: unknown keys and sections of the whole input. */
function unknownKeys(input: unknown, node: SchemaNode, key: string): ConfigProblem[] {
  const entries = entriesOf(node)
  if (!entries || (input === undefined && key)) return []
  if (!isSection(input)) return [{ key, message: key ? 'must be a section with keys' : 'must be an object' }]
  return Object.keys(input).flatMap((name) => {
    const child = joinKey(key, name)
    if (Object.hasOwn(entries, name)) return unknownKeys(input[name], entries[name]!, child)
    const rest = FREE_NAMES[key]?.isName(name) && isSection(input[name]) ? unwrap(node).rest : undefined
    if (rest) return unknownKeys(input[name], rest, child)
    const nearest = nearestKey(child)
    // A key with its dots, as flags and environment variables have it.
    if (nearest === child) return [{ key: child, message: `write it as sections: ${nested(child)}` }]
    return [{ key: child, message: nearest ? `unknown key, did you mean ${nearest}?` : 'unknown key' }]
  })
}

/** `log.level` as `{ log: { level: … } }`. */
function nested(key: string): string {
  return key.split('.').reduceRight((inner, name) => `{ ${name}: ${inner} }`, '…')
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
