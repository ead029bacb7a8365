import * as v from 'valibot'
import type { Config } from '../api/config.ts'
import { distance } from '../core/nearest.ts'
import { entriesOf, nodeOf, type SchemaNode, schemaOf, unwrap } from '../core/schema-nodes.ts'
import { FREE_NAMES } from './free-names.ts'
import { isSection, type KeyNotes } from './key.ts'
import { ConfigSchema } from './schema.ts'

/** The schema of the whole configuration, for walks through its keys. */
export const ROOT = nodeOf(ConfigSchema)

/** One configurable value, as the documentation shows it. */
export interface ConfigKey {
  /** `section.name`, as in the file. */
  key: string
  type: 'text' | 'integer' | 'boolean' | 'list' | 'list of integers' | 'table' | 'integer or false'
  /** The allowed values, if they are few. */
  choices?: readonly string[]
  /** The smallest number, the shortest text or the shortest list; the same for `max`. */
  min?: number
  max?: number
  /** Missing when the value is optional. */
  default?: unknown
  unit?: string
  description: string
  /**
   * Whether it must not be printed: `password` hides only the password of a URL, `header` only the value of a header.
   */
  secret: boolean | 'password' | 'header'
  /** Whether a running service takes another value when its configuration is reloaded. */
  reload: boolean | 'credentials'
}

let keys: readonly ConfigKey[] | undefined

/** Every key, in the order of the documentation. Read from the schemas once: a start asks for each variable that is set. */
export function configKeys(): readonly ConfigKey[] {
  keys ??= keysOf(ROOT, '')
  return keys
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
  const names = configKeys()
    .map((configKey) => withNamesOf(configKey.key, key))
    .flatMap((name) => [name, name.slice(0, Math.max(0, name.lastIndexOf('.')))])
  const near = [...new Set(names)]
    .map((candidate) => ({ candidate, far: distance(key, candidate) }))
    .filter(({ far }) => far <= limit)
    .sort((a, b) => a.far - b.far)[0]
  // The right name in the wrong section has a large distance: `port` for `server.port`.
  return near?.candidate ?? names.find((candidate) => lastOf(candidate) === lastOf(key))
}

const STARS = '********'

/** `key` with the name of `other` in place of the free name. */
function withNamesOf(key: string, other: string): string {
  const [section, , ...names] = key.split('.')
  const { shown, isName } = FREE_NAMES[section!] ?? {}
  if (shown === undefined || !key.startsWith(`${section}.${shown}.`) || !other.startsWith(`${section}.`)) return key
  const [given, inside] = other.slice(section!.length + 1).split('.')
  return inside !== undefined && isName!(given!) ? [section, given, ...names].join('.') : key
}

function keysOf(node: SchemaNode, key: string): ConfigKey[] {
  const entries = entriesOf(node)
  if (entries) {
    const named = Object.entries(entries).flatMap(([name, child]) => keysOf(child, joinKey(key, name)))
    const rest = unwrap(node).rest
    return rest ? [...named, ...keysOf(rest, joinKey(key, FREE_NAMES[key]!.shown))] : named
  }
  const { description, unit, secret, reload } = v.getMetadata(schemaOf(node)) as unknown as KeyNotes
  return [
    {
      key,
      type: typeOf(node.wrapped!),
      ...(node.wrapped!.type === 'picklist' && { choices: node.wrapped!.options as string[] }),
      ...boundsOf(node.wrapped!),
      ...(node.default !== undefined && { default: node.default }),
      ...(unit && { unit }),
      description,
      secret: secret ?? false,
      reload: reload ?? false,
    },
  ]
}

function typeOf({ type, item }: SchemaNode): ConfigKey['type'] {
  if (type === 'array' && item?.type === 'strict_object') return 'table'
  if (type === 'array' && item?.type === 'number') return 'list of integers'
  return TYPES[type] ?? 'text'
}

/** The types of keys by those of their schemas; all others are texts. */
const TYPES: Record<string, ConfigKey['type']> = {
  number: 'integer',
  boolean: 'boolean',
  array: 'list',
  custom: 'table',
  record: 'table',
  union: 'integer or false',
}

/** The bounds of a value; for a number that can also be false, the bounds of the number. */
function boundsOf(node: SchemaNode): Pick<ConfigKey, 'min' | 'max'> {
  if (node.type === 'union') return boundsOf((node.options as SchemaNode[])[0]!)
  const bounds: Pick<ConfigKey, 'min' | 'max'> = {}
  for (const check of node.pipe ?? []) {
    if (check.pipe && check !== node) Object.assign(bounds, boundsOf(check))
    if (check.type === 'non_empty') bounds.min = 1
    if (/^min_(value|length)$/.test(check.type)) bounds.min = check.requirement as number
    if (/^max_(value|length)$/.test(check.type)) bounds.max = check.requirement as number
  }
  return bounds
}

function maskPassword(address: string): string {
  // Up to the last @: an unescaped password may contain any of `:/?@` itself.
  return address.replace(/^(\w+:\/\/[^:]*:).*@/, `$1${STARS}@`).replace(/(password=)[^&]*/gi, `$1${STARS}`)
}

/** The key of a name in a section; of a section at the top, its name. */
export function joinKey(section: string, name: string): string {
  return section ? `${section}.${name}` : name
}

function lastOf(key: string): string {
  return key.slice(key.lastIndexOf('.') + 1)
}
