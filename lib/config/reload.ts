import { differsInCredentialsOnly } from './database-url.ts'
import { isSection } from './key.ts'
import { assertConsistent, type Config } from './parse.ts'
import { findKey } from './reference.ts'

/** What a reload of the configuration has done. */
export interface Reloaded {
  /** The keys with another value now. */
  changed: string[]
  /** The keys that differ, and keep their value until the service is started again. */
  needs_restart: string[]
}

/** What a reload would change. */
export interface ReloadPlan extends Reloaded {
  /** The configuration in effect afterwards. Sections without a change are the same objects. */
  next: Config
}

/**
 * Compares a new configuration with the one in effect, and takes the keys of it that can be reloaded.
 *
 * @throws ConfigError when they contradict the keys that stay
 */
export function planReload(current: Config, wanted: Config): ReloadPlan {
  const keys = differingKeys(current, wanted, '')
  const changed = keys.filter((key) => isReloadable(key, current, wanted))
  const next = changed.reduce<unknown>((config, key) => withValue(config, key.split('.'), wanted), current) as Config
  assertConsistent(next)
  return { next, changed, needs_restart: keys.filter((key) => !changed.includes(key)) }
}

function isReloadable(key: string, ...configs: [Config, Config]): boolean {
  const reload = findKey(key)?.reload ?? false
  if (reload !== 'credentials') return reload
  const [current, next] = configs.map((config) => String(key.split('.').reduce<unknown>(valueAt, config)))
  return differsInCredentialsOnly(current!, next!)
}

/** The keys with different values, in the order of the configuration. */
function differingKeys(one: unknown, other: unknown, key: string): string[] {
  if ((isSection(one) || isSection(other)) && !findKey(key)) {
    const names = new Set([one, other].flatMap((value) => (isSection(value) ? Object.keys(value) : [])))
    return [...names].flatMap((name) =>
      differingKeys(valueAt(one, name), valueAt(other, name), key ? `${key}.${name}` : name),
    )
  }
  return JSON.stringify(one) === JSON.stringify(other) ? [] : [key]
}

function valueAt(section: unknown, name: string): unknown {
  return isSection(section) && Object.hasOwn(section, name) ? section[name] : undefined
}

/** A copy of `section` with the value that `source` has at the path. */
function withValue(section: unknown, [name, ...rest]: string[], source: unknown): unknown {
  if (name === undefined) return source
  const value = withValue(valueAt(section, name), rest, valueAt(source, name))
  const { [name]: _, ...others } = isSection(section) ? section : {}
  return value === undefined ? others : { ...(isSection(section) ? section : {}), [name]: value }
}
