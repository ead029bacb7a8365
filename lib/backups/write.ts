import { createReadStream, createWriteStream, readFileSync, rmSync, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { assertBackUpable, assertOther } from '../storage/archive/backup.ts'
import { openCopy } from '../storage/archive/copy.ts'
import { assertFree, type Overwriting, replaceFile } from '../storage/archive/files.ts'
import type { Database } from '../storage/database.ts'
import { getDatabaseFile } from '../storage/place.ts'
import { DIGEST_END, digestBytes, findDigest, type Hashed, hashed, toDigestLine } from './digest.ts'
import { isEncrypting, type Keys, pack } from './packing.ts'

/** How a SQLite database is backed up. */
export interface WriteOptions {
  /** With a passphrase or a recipient the backup is compressed and encrypted. */
  keys: Keys
  /** Writes a copy of the database into an empty file. */
  copy: (path: string) => Promise<unknown>
  signal: AbortSignal
}

/** A backup that was written to a file. */
export interface WrittenBackup {
  bytes: number
  sha256: string
}

/** The end of the size of a digest, of which more is none. */
const MAX_DIGEST_BYTES = 64 * 1024

/**
 * Writes a backup of a SQLite database to a file, and its SHA-256 beside it. If it is killed in between, the file is complete
 * and has no digest, never that of another file.
 *
 * @throws Error for another kind of database; when a file exists, unless `force`
 */
export async function writeBackup(
  db: Database,
  file: string,
  { force = false, ...options }: WriteOptions & Overwriting,
): Promise<WrittenBackup> {
  const digestFile = file + DIGEST_END
  for (const piece of [file, digestFile]) await assertOther(db, piece)
  await assertBackUpable(db)
  // That of a backup that was deleted may be replaced.
  assertFree(digestFile, { force: force || readDigest(file) !== undefined })
  let sha256 = ''
  const bytes = await replaceFile(file, { force }, async (partial) => {
    sha256 = await (isEncrypting(options.keys) ? writePacked : writePlain)(db, partial, options)
    rmSync(digestFile, { force: true })
  })
  await replaceFile(digestFile, { force: true }, (partial) => writeFile(partial, toDigestLine(basename(file), sha256)))
  return { bytes, sha256 }
}

/** The digest beside a file, if there is one. */
export function readDigest(file: string): string | undefined {
  const path = file + DIGEST_END
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats?.isFile() || stats.size > MAX_DIGEST_BYTES) return undefined
  return findDigest(readFileSync(path, 'utf8'), basename(file))
}

/** A backup as a stream, for as long as it is not closed. */
export interface StreamedBackup extends Hashed {
  close(): Promise<void>
}

/** Makes a copy of a SQLite database, which has no name any more while it is read. @throws Error for another kind of database */
export async function streamBackup(
  db: Database,
  { keys, copy }: Pick<WriteOptions, 'keys' | 'copy'>,
): Promise<StreamedBackup> {
  await assertBackUpable(db)
  const { bytes, close } = await openCopy(await getDatabaseFile(db), copy)
  return { ...hashed(isEncrypting(keys) ? await pack(bytes, keys) : bytes), close }
}

async function writePlain(_db: Database, partial: string, { copy, signal }: WriteOptions): Promise<string> {
  await copy(partial)
  return digestBytes(createReadStream(partial, { signal }))
}

/** The copy is next to the database: nothing is in plain text on the disk of the target. */
async function writePacked(db: Database, partial: string, { signal, ...options }: WriteOptions): Promise<string> {
  const backup = await streamBackup(db, options)
  try {
    await pipeline(backup.bytes, createWriteStream(partial), { signal })
    return backup.sha256()
  } finally {
    await backup.close()
  }
}
