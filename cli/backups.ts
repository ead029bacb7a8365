import { createReadStream, existsSync, readFileSync } from 'node:fs'
import { addAbortSignal } from 'node:stream'
import { openTarget } from '../lib/backups/backups.ts'
import { DIGEST_END, digestBytes } from '../lib/backups/digest.ts'
import { joinStores, openFilesFolder } from '../lib/backups/files.ts'
import { deriveFilesKey, type FilesKey } from '../lib/backups/files-key.ts'
import { type Keys, listPassphrases } from '../lib/backups/packing.ts'
import { isPlaceMissing } from '../lib/backups/place.ts'
import { isBackupName, ownerIn } from '../lib/backups/rules.ts'
import { findState } from '../lib/backups/store.ts'
import { readDigest } from '../lib/backups/write.ts'
import type { Config } from '../lib/config/parse.ts'
import { type FileStore, openFileStoreIn } from '../lib/files/file-store.ts'
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
  /** Whether the file was compared with the SHA-256 beside it. */
  is_compared?: boolean
  /** Opens the folder of `backup.target` with its files of messages, if it exists, and they are copied to it, too. */
  openFiles?: (keys: Keys) => Promise<FileStore>
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
  if (existsSync(name)) {
    const is_compared = await compareDigest(name, signal)
    // Its reader gets the error. Without one it would end the process.
    return { bytes: createReadStream(name, { signal }).on('error', () => {}), path: name, is_compared }
  }
  if (isBackupName(name) && config.backup.target !== undefined) {
    const objects = openTarget(config)
    const bytes = await objects.get(name, { signal })
    if (bytes) return { bytes, ...(config.backup.files && { openFiles: (keys) => openFilesOf(name, config, keys) }) }
    throw new Error(`There is no backup ${name} in ${objects.place}: "chat-server backup list" lists them`)
  }
  throw new Error(`There is no backup at ${name}`)
}

/** Whether the database has noted backups in this place, which has none. One that cannot be read has noted none. */
export async function areMissing({ database, storage }: Config, objects: Objects): Promise<boolean> {
  const { openStorage } = await import('../lib/index.ts')
  const { url, ...postgres } = database
  const options = { ...postgres, durability: storage.durability, create: false, read_only: true }
  const opened = await openStorage({ database: url, ...options }).catch(() => undefined)
  try {
    const state = opened && (await findState(opened.db))
    return state !== undefined && (await isPlaceMissing(objects, state))
  } catch {
    return false
  } finally {
    await opened?.close()
  }
}

/** Before a byte of it is used. @returns false without a digest @throws Error when it is that of other bytes */
async function compareDigest(name: string, signal: AbortSignal): Promise<boolean> {
  if (!existsSync(name + DIGEST_END)) return false
  const expected = readDigest(name)
  if (expected === undefined) throw new Error(`${name + DIGEST_END} has no SHA-256 of ${name}: correct or delete it`)
  if ((await digestBytes(createReadStream(name, { signal }))) === expected) return true
  throw new Error(`${name} is damaged, or another file: its SHA-256 is not the one in ${name + DIGEST_END}`)
}

/** Why no more than the structure of a backup could be checked. */
export function structureOnly(name: string): string {
  const none = name === STANDARD ? 'standard input has no SHA-256 beside it' : `there is no ${name + DIGEST_END}`
  return `structure only: ${none}, and a changed byte of a text would not be noticed`
}

/** With former passphrases, the folder of each: the one that the backup was encrypted with is not known. */
async function openFilesOf(name: string, config: Config, keys: Keys): Promise<FileStore> {
  const owner = ownerIn(name)
  const open = (key: FilesKey | undefined) =>
    openFileStoreIn(openFilesFolder(owner, (folder) => openTarget(config, folder), key))
  if (!name.endsWith('.age')) return open(undefined)
  const [first, ...others] = listPassphrases(keys)
  const current = open(await deriveFilesKey({ ...keys, passphrase: first }, owner))
  const former = await Promise.all(others.map(async (passphrase) => open(await deriveFilesKey({ passphrase }, owner))))
  return joinStores([current, ...former])
}

/** What decrypts a backup. @param identity the path of a file, as `age-keygen` writes it */
export function readKeys({ backup }: Config, identity: string | undefined): Keys {
  const { passphrase, previous_passphrases } = backup
  if (identity === undefined) return { passphrase, previous_passphrases }
  const key = /^AGE-SECRET-KEY-\S+$/m.exec(readFileSync(identity, 'utf8'))?.[0]
  if (!key) throw new UsageError(`--identity: ${identity} has no secret key of age (AGE-SECRET-KEY-…)`)
  return { identity: key }
}
