import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { ConfigProblem } from '../../lib/config/contradictions.ts'
import { isSection } from '../../lib/config/key.ts'
import { ConfigError } from '../../lib/config/parse.ts'
import { type ConfigKey, configKeys, findKey } from '../../lib/config/reference.ts'
import { describeSystemError } from '../errors.ts'

/** A file that holds the value of one key, and nothing else. */
export interface SecretFile {
  key: string
  path: string
  value: unknown
}

/** Far above any secret; a larger file is a mistake. */
const MAX_SECRET_BYTES = 64 * 1024

/** What the keys of a configuration file ending in `_file` name. */
export interface FileSecrets {
  /** The content of the file without those keys. */
  content: unknown
  files: SecretFile[]
  problems: ConfigProblem[]
}

/**
 * Reads the file of a secret. One line end at its end does not count.
 *
 * @throws ConfigError that names `source`, and never the content
 */
export function readSecretFile(
  { key, type }: Pick<ConfigKey, 'key' | 'type'>,
  path: string,
  source: string,
): SecretFile {
  const refuse = (message: string) => new ConfigError([{ key: source, message }])
  if (path === '') throw refuse('must be the path of a file')
  try {
    const stat = statSync(path)
    if (!stat.isFile()) throw refuse(`${path} is not a file`)
    if (stat.size > MAX_SECRET_BYTES) throw refuse(`${path} is larger than 64 KiB`)
    const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path)).replace(/\r?\n$/, '')
    if (text === '') throw refuse(`${path} is empty`)
    return { key, path, value: type === 'list' ? text.split(/\r?\n/) : text }
  } catch (error) {
    if (error instanceof ConfigError) throw error
    throw refuse(describeSystemError(error) ?? `${path} is not UTF-8`)
  }
}

/** Finds `<key>_file` of each secret in a configuration file, and reads those files. */
export function fileSecretsIn(content: unknown): FileSecrets {
  const files: SecretFile[] = []
  const problems: ConfigProblem[] = []
  const without = (value: unknown, section: string): unknown => {
    if (!isSection(value)) return value
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, child]) => {
        const path = section ? `${section}.${name}` : name
        const secret = secretOf(path)
        if (!secret) return [[name, without(child, path)]]
        if (Object.hasOwn(value, name.slice(0, -'_file'.length)))
          problems.push({ key: path, message: `is set beside ${secret.key}: set one of the two` })
        else if (typeof child !== 'string') problems.push({ key: path, message: 'must be the path of a file' })
        else collect(problems, () => files.push(readSecretFile(secret, child, path)))
        return []
      }),
    )
  }
  return { content: without(content, ''), files, problems }
}

/** The secret whose file a key such as `metrics.token_file` names. */
function secretOf(key: string): ConfigKey | undefined {
  if (!key.endsWith('_file')) return undefined
  const named = key.slice(0, -'_file'.length)
  const found = findKey(named)
  return found?.secret ? { ...found, key: named } : undefined
}

/** The credentials that systemd passes to this service: files with the names of keys, such as `metrics.token`. */
export function credentialsIn(folder: string | undefined): Pick<FileSecrets, 'files' | 'problems'> {
  const files: SecretFile[] = []
  const problems: ConfigProblem[] = []
  if (folder === undefined || folder === '') return { files, problems }
  for (const key of configKeys().filter(({ secret }) => secret)) {
    const path = join(folder, key.key)
    if (!key.key.includes('<') && existsSync(path))
      collect(problems, () => files.push(readSecretFile(key, path, `credential ${key.key}`)))
  }
  return { files, problems }
}

/** Adds the problems of a ConfigError. */
export function collect(problems: ConfigProblem[], work: () => unknown): void {
  try {
    work()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    problems.push(...error.problems)
  }
}
