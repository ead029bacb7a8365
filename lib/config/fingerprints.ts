import { createHmac } from 'node:crypto'
import { resolve } from 'node:path'
import { filesPlace } from './attachments.ts'
import { isSection } from './key.ts'
import type { Config } from './parse.ts'
import { configKeys, findKey, joinKey } from './reference.ts'

/** Hexadecimal digits: 64 bits of a value. Of a secret 12 bits, which show a difference, and help no guess. */
const DIGITS = 16
const SECRET_DIGITS = 3

/** Keys that nodes of one service may have of their own, or that `serve` sets by itself. */
export const OWN_KEYS: readonly string[] = [
  ...['server.host', 'server.port', 'server.socket', 'server.socket_mode', 'server.web'],
  ...['cluster.instance', 'storage.migrate', 'database.application_name'],
]

/** A digest of each value that is set, by key. */
export type Fingerprints = Record<string, string>

/**
 * Digests of the values of a configuration, by which two processes see that theirs differ. The place of files is the one in
 * effect: a relative path is another place in another folder.
 *
 * @param key the same for all processes of a database, and unknown to others
 */
export function fingerprintsOf(config: Config, key: Uint8Array): Fingerprints {
  const secrets = new Map(configKeys().map((key) => [key.key, key.secret !== false]))
  const fingerprints: Fingerprints = {}
  const visit = (value: unknown, name: string): void => {
    const isSecret = secrets.get(name) ?? (isSection(value) ? undefined : findKey(name)?.secret !== false)
    if (isSecret === undefined) {
      for (const [child, inner] of Object.entries(value as object)) visit(inner, joinKey(name, child))
    } else if (value !== undefined) fingerprints[name] = fingerprintOf(name, value, { key, is_secret: isSecret })
  }
  visit(config, '')
  if (config.attachments.enabled)
    fingerprints['attachments.storage'] = fingerprintOf('attachments.storage', placeOf(config), {
      key,
      is_secret: false,
    })
  return fingerprints
}

/** The digest of one value. */
export function fingerprintOf(
  name: string,
  value: unknown,
  { key, is_secret }: { key: Uint8Array; is_secret: boolean },
): string {
  const digest = createHmac('sha256', key)
    .update(`${name}\0${JSON.stringify(value)}`)
    .digest('hex')
  return digest.slice(0, is_secret ? SECRET_DIGITS : DIGITS)
}

/** The keys whose values differ, or that one of the two has only. */
export function differing(one: Fingerprints, other: Fingerprints): string[] {
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].filter((key) => one[key] !== other[key])
}

function placeOf(config: Config): string {
  const place = filesPlace(config)
  return place.startsWith('fs:') ? `fs:${resolve(place.slice('fs:'.length))}` : place
}
