import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { assertRestorable } from '../storage/archive/backup.ts'
import { checkArchive } from '../storage/archive/check.ts'
import { linesOf } from '../storage/archive/lines.ts'
import { openStorage } from '../storage/open.ts'
import { holdTemporary, removeAbandoned, temporaryOf } from '../storage/temporary.ts'
import { type Keys, packingOf, peek, unpack } from './packing.ts'

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
  const checked_by = packingOf(packed.first) === undefined ? 'structure' : 'packing'
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
    const { users = 0, conversations = 0, messages = 0 } = await checkArchive(linesOf(backup.bytes))
    return { kind: 'archive', checked_by, users, conversations, messages }
  }
  await removeAbandoned(tmpdir())
  const temporary = temporaryOf(join(tmpdir(), 'chat-server-verify'))
  await mkdir(temporary, { mode: 0o700 })
  const found = await holdTemporary(temporary, (folder) =>
    verifyFile(join(folder, 'chat.db'), backup.bytes, { prefix, signal }),
  )
  return { kind: 'sqlite', checked_by, ...found }
}

async function verifyFile(
  file: string,
  bytes: AsyncIterable<Uint8Array>,
  { prefix, signal }: VerifyOptions,
): Promise<Pick<VerifiedBackup, 'users' | 'conversations' | 'messages'>> {
  await pipeline(Readable.from(bytes), createWriteStream(file, { mode: 0o600 }), { ...(signal && { signal }) })
  const storage = await openStorage({ database: `sqlite:${file}`, create: false, prefix })
  try {
    await assertRestorable(storage.db, 'The backup', signal)
    const count = async (table: string) =>
      (await storage.db.get<{ rows: number }>(`SELECT count(*) AS rows FROM ${table}`))!.rows
    return {
      users: await count('users'),
      conversations: await count('conversations'),
      messages: await count('messages'),
    }
  } finally {
    await storage.close()
  }
}
