import { statSync } from 'node:fs'
import { findKey } from '../../lib/config/reference.ts'
import { readConfigFile } from '../config/file.ts'
import type { LoadedConfig } from '../config/load.ts'
import type { SecretFile } from '../config/secrets.ts'
import { configWarnings } from '../config/warnings.ts'
import { type Finding, note, ok, warning } from './finding.ts'

/** The findings about a valid configuration: possible mistakes, and the permissions of a file with secrets. */
export function checkConfiguration({ config, file, secret_files = [], warnings }: LoadedConfig): Finding[] {
  return [
    ok('configuration.valid', file ? `${file} is valid.` : 'No file is used; the other settings are valid.'),
    ...warnings.map((message) =>
      warning('configuration.unknown_variable', message, 'Remove it from the environment, or correct its name.'),
    ),
    ...configWarnings(config).map(({ code, message, remedy }) => warning(code, message, remedy)),
    ...(file ? checkSecrets(file) : []),
    ...secret_files.flatMap(checkSecretFile),
    ...(config.security.secret_key === undefined
      ? [
          note(
            'secret.in_database',
            'security.secret_key is not set: a copy of the database can sign links and tokens, and opens what is encrypted in it.',
          ),
        ]
      : []),
    ...(config.outgoing.allowed_networks.length > 0
      ? [
          note(
            'outgoing.opened',
            `outgoing.allowed_networks opens ${config.outgoing.allowed_networks.join(', ')} to the calls that users name.`,
          ),
        ]
      : []),
    ...(config.storage.durability === 'os'
      ? [note('storage.not_synced', 'storage.durability is os: the last writes may be lost in a power cut.')]
      : []),
  ]
}

function checkSecrets(file: string): Finding[] {
  if (process.platform === 'win32') return []
  const mode = statSync(file).mode & 0o777
  const secrets = secretKeys(readConfigFile(file).content, '')
  if (secrets.length === 0 || (mode & 0o077) === 0) return []
  return [
    warning(
      'configuration.file_readable',
      `${file} contains secrets (${secrets.join(', ')}) and other users can read it (${mode.toString(8)}).`,
      `chmod 600 ${file}`,
    ),
  ]
}

function checkSecretFile({ key, path }: SecretFile): Finding[] {
  const mode = statSync(path).mode & 0o777
  if (process.platform === 'win32' || (mode & 0o007) === 0) return []
  const message = `${path} contains ${key} and every user can read it (${mode.toString(8)}).`
  return [warning('configuration.secret_readable', message, `chmod 600 ${path}`)]
}

function secretKeys(value: unknown, key: string): string[] {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return Object.entries(value).flatMap(([name, child]) => secretKeys(child, key ? `${key}.${name}` : name))
  }
  const secret = findKey(key)?.secret
  if (!secret || String(value) === '') return []
  return secret !== 'password' || /:\/\/[^:/]*:.+@|password=/i.test(String(value)) ? [key] : []
}
