import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { assertRestorable } from '../storage/archive/backup.ts'
import { checkArchive } from '../storage/archive/check.ts'
import { splitLines } from '../storage/archive/lines.ts'
import { openStorage, type Storage } from '../storage/open.ts'
import { holdTemporary, removeAbandoned, toTemporaryPath } from '../storage/temporary.ts'
import { detectPacking, type Keys, peek, unpack } from './packing.ts'
import { countContent } from './store.ts'

/** What a backup contains when it is unpacked. */
export type BackupKind = 'sqlite' | 'archive'

/**
 * What shows that no byte of a backup has changed: a file beside it with its SHA-256, or its packing, which has a checksum.
 * Without them changed bytes of a text are not noticed, only those of the structure.
 */
export type CheckedBy = 'sha256' | 'packing' | 'structure'

/** An unpacked backup. */
export interface OpenedBackup {
  kind: BackupKind
  bytes: AsyncIterable<Uint8Array>
  checked_by: Exclude<CheckedBy, 'sha256'>
}

/** Unpacks whatever `backup` and `export` write. @throws Error for other files, and when a key is missing or wrong */
export async function openBackup(bytes: AsyncIterable<Uint8Array>, keys: Keys): Promise<OpenedBackup> {
  const packed = await peek(bytes)
  const { first, all } = await peek(unpack(packed.all, keys))
  const checked_by = detectPacking(packed.first) === undefined ? 'structure' : 'packing'
  const start = first.toString('latin1')
  if (start.startsWith('SQLite format 3\0')) return { kind: 'sqlite', bytes: all, checked_by }
  if (start.startsWith('{"chat_server_archive"')) return { kind: 'archive', bytes: all, checked_by }
  throw new Error(
    first.length === 0
      ? 'The backup is empty'
      : 'This is neither a backup nor an export of chat-server, or it is damaged',
  )
}

/** The result of {@link verifyBackup}. */
export interface VerifiedBackup {
  kind: BackupKind
  checked_by: CheckedBy
  users: number
  conversations: number
  messages: number
}

/** Options of {@link verifyBackup}. */
export interface VerifyOptions {
  /** The prefix of the tables in a SQLite file. */
  prefix?: string | undefined
  signal?: AbortSignal | undefined
}

/**
 * Reads a backup to its end and checks it as `restore` does. A SQLite file needs room in the folder for temporary files.
 *
 * @throws Error when it could not be restored
 */
export async function verifyBackup(
  bytes: AsyncIterable<Uint8Array>,
  keys: Keys,
  { prefix, signal }: VerifyOptions = {},
): Promise<VerifiedBackup> {
  const backup = await openBackup(bytes, keys)
  const { checked_by } = backup
  if (backup.kind === 'archive') {
    const { users = 0, conversations = 0, messages = 0 } = await checkArchive(splitLines(backup.bytes))
    return { kind: 'archive', checked_by, users, conversations, messages }
  }
  const result = await inTemporaryFolder('verify', (folder) =>
    verifyFile(join(folder, 'chat.db'), backup.bytes, { prefix, signal }),
  )
  return { kind: 'sqlite', checked_by, ...result }
}

/** @param what such as `verify`, of the name of a folder that is removed at the end */
async function inTemporaryFolder<T>(what: string, use: (folder: string) => Promise<T>): Promise<T> {
  await removeAbandoned(tmpdir())
  const temporary = toTemporaryPath(join(tmpdir(), `chat-server-${what}`))
  await mkdir(temporary, { mode: 0o700 })
  return holdTemporary(temporary, use)
}

/**
 * Lets `use` read the database of a backup, which is made in the folder for temporary files: an archive as a SQLite file,
 * too, and an older one with the schema of this program.
 *
 * @throws Error when it could not be restored
 */
export function withBackup<T>(
  backup: OpenedBackup,
  { prefix, signal }: VerifyOptions,
  use: (storage: Storage) => Promise<T>,
): Promise<T> {
  return inTemporaryFolder('backup', async (folder) => {
    const file = join(folder, 'chat.db')
    const isArchive = backup.kind === 'archive'
    if (!isArchive) await writeBytes(file, backup.bytes, signal)
    const storage = await openStorage({ database: `sqlite:${file}`, ...(!isArchive && { create: false, prefix }) })
    try {
      if (!isArchive) await assertRestorable(storage.db, 'The backup', signal)
      await storage.migrate()
      if (isArchive) await storage.import(splitLines(backup.bytes))
      return await use(storage)
    } finally {
      await storage.close()
    }
  })
}

function writeBytes(file: string, bytes: AsyncIterable<Uint8Array>, signal: AbortSignal | undefined): Promise<void> {
  return pipeline(Readable.from(bytes), createWriteStream(file, { mode: 0o600 }), { ...(signal && { signal }) })
}

async function verifyFile(
  file: string,
  bytes: AsyncIterable<Uint8Array>,
  { prefix, signal }: VerifyOptions,
): Promise<Pick<VerifiedBackup, 'users' | 'conversations' | 'messages'>> {
  await writeBytes(file, bytes, signal)
  const storage = await openStorage({ database: `sqlite:${file}`, create: false, prefix })
  try {
    await assertRestorable(storage.db, 'The backup', signal)
    return await countContent(storage.db)
  } finally {
    await storage.close()
  }
}
