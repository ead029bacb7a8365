import { createReadStream, existsSync, readFileSync } from 'node:fs'
import { addAbortSignal } from 'node:stream'
import { openTarget } from '../lib/backups/backups.ts'
import { openFilesFolder } from '../lib/backups/files.ts'
import { filesKeyOf } from '../lib/backups/files-key.ts'
import type { Keys } from '../lib/backups/packing.ts'
import { isBackupName, ownerIn } from '../lib/backups/rules.ts'
import type { Config } from '../lib/config/parse.ts'
import type { Objects } from '../lib/storage/objects/objects.ts'
import { UsageError } from './args/command.ts'
import { assertPipedIn, STANDARD } from './standard-streams.ts'

/** The flag of commands that read a backup. */
export const identityArg = {
  identity: { type: 'string', valueHint: 'file', description: 'File with the secret key of age that decrypts it' },
} as const

/** A backup as it is stored. */
export interface BackupSource {
  bytes: AsyncIterable<Uint8Array>
  /** The file, if it is one. */
  path?: string
  /** Opens the folder of `backup.target` with its files of messages, if it is there, and they are copied there, too. */
  openFiles?: (keys: Keys) => Promise<Objects>
}

/**
 * Opens a backup: a file, `-` for standard input, or the name of one in `backup.target`.
 *
 * @param signal ends what reads it, with an error
 */
export async function findBackup(name: string, config: Config, signal: AbortSignal): Promise<BackupSource> {
  if (name === STANDARD) {
    assertPipedIn()
    return {
      bytes: addAbortSignal(
        signal,
        process.stdin.on('error', () => {}),
      ),
    }
  }
  // Its reader gets the error. Without one it would end the process.
  if (existsSync(name)) return { bytes: createReadStream(name, { signal }).on('error', () => {}), path: name }
  if (isBackupName(name) && config.backup.target !== undefined) {
    const objects = openTarget(config)
    const bytes = await objects.get(name, { signal })
    if (bytes) return { bytes, ...(config.backup.files && { openFiles: (keys) => openFilesOf(name, config, keys) }) }
    throw new Error(`There is no backup ${name} in ${objects.place}: "chat-server backup list" lists them`)
  }
  throw new Error(`There is no backup at ${name}`)
}

async function openFilesOf(name: string, config: Config, keys: Keys): Promise<Objects> {
  const owner = ownerIn(name)
  const key = name.endsWith('.age') ? await filesKeyOf(keys, owner) : undefined
  return openFilesFolder(owner, (folder) => openTarget(config, folder), key)
}

/** What decrypts a backup. @param identity the path of a file, as `age-keygen` writes it */
export function keysOf({ backup }: Config, identity: string | undefined): Keys {
  if (identity === undefined) return { passphrase: backup.passphrase }
  const key = /^AGE-SECRET-KEY-\S+$/m.exec(readFileSync(identity, 'utf8'))?.[0]
  if (!key) throw new UsageError(`--identity: ${identity} has no secret key of age (AGE-SECRET-KEY-…)`)
  return { identity: key }
}
