import { createHash, hash } from 'node:crypto'
import type { Context } from '../../context.ts'
import type { FileStore } from '../../files/file-store.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { Row } from '../../storage/database.ts'
import { countParts, keyOfPart, lengthOfPart, toList } from '../attachments/rules.ts'
import { listOfMessage, markComplete, setList, toAttachment } from '../attachments/store.ts'
import { insertBlob, lockDigest, lockLiveBlob, releaseUnused, setDigest } from '../attachments/store-blobs.ts'
import { setThumbnail } from '../attachments/store-verdicts.ts'
import type { CopiedBlob } from './reading.ts'
import { insertRow } from './store.ts'

/** What an import has done with the files of messages. */
export interface ImportedFiles {
  files: number
  /** Lost files: the folder lacks them or has other bytes, or they were never checked. */
  missing: number
}

/** A file whose bytes are those that the archive names. */
interface Whole {
  blob: CopiedBlob
  /** The SHA-256 of each part. */
  digests: string[]
}

/**
 * Adds the files of messages. No bytes of the storage are taken by their id: what a folder has is read, stored under a new
 * id and hashed again, and a file whose bytes are not those of the archive is lost.
 *
 * @param from the folder with the bytes; without it, all files are lost
 */
export function createFileImport(ctx: Context, blobs: ReadonlyMap<string, CopiedBlob>, from: FileStore | undefined) {
  const done: ImportedFiles = { files: 0, missing: 0 }

  /** The message of the last file. */
  let messageId: string | undefined

  /** Lists the files of a message in its row, once all of them are stored. */
  async function end(): Promise<void> {
    const id = messageId
    if (id === undefined) return
    await ctx.write(async (tx) => {
      await setList(tx, id, toList((await listOfMessage(tx, id)).map(toAttachment)))
      ctx.search.noteMessages(tx, [id])
    })
  }

  /** Adds a file whose message is stored already. */
  async function add({ blob_id, thumbnail_blob_id, thumbnail_type, ...row }: Row): Promise<void> {
    if (messageId !== row.message_id) await end()
    messageId = String(row.message_id)
    const blob = blobs.get(String(blob_id))
    const whole = row.status === 'ready' && from && blob ? await readWhole(from, blob, Number(row.size)) : undefined
    if (!from || !whole) {
      const wasThere = row.status !== 'refused' && row.status !== 'gone'
      await ctx.write((tx) => insertRow(tx, 'attachments', { ...row, expires_at: null, ...(wasThere && GONE) }))
      if (wasThere) done.missing++
      return
    }
    await storeFile(ctx, from, whole, { ...row, expires_at: null })
    const thumbnail = blobs.get(String(thumbnail_blob_id))
    if (thumbnail) await storeThumbnail(ctx, from, thumbnail, { id: row.id!, thumbnail_type: thumbnail_type ?? null })
    done.files++
  }

  return { add, end, done }
}

const GONE = { status: 'gone', reason: null, width: null, height: null }

/** @returns `undefined` unless the folder has all bytes of the file, and they are those that the archive names */
async function readWhole(from: FileStore, blob: CopiedBlob, size: number): Promise<Whole | undefined> {
  if (blob.digest === null || Number(blob.size) !== size) return undefined
  const [whole, digests] = [createHash('sha256'), [] as string[]]
  for (let n = 1; n <= countParts(size); n++) {
    const bytes = await from.get(keyOfPart(blob.id, n))
    if (bytes?.length !== lengthOfPart(size, n)) return undefined
    whole.update(hash('sha256', bytes, 'buffer'))
    digests.push(hash('sha256', bytes, 'base64url'))
  }
  return whole.digest('base64url') === blob.digest ? { blob, digests } : undefined
}

/** Stores the bytes after the row that names them, so that no sweep takes them for unused ones. */
async function storeFile(ctx: Context, source: FileStore, { blob, digests }: Whole, row: Row): Promise<void> {
  const [size, uploaded_by] = [Number(row.size), row.uploaded_by as string | null]
  const id = await nameBlob(ctx, size, uploaded_by, async (tx, blob_id) => {
    await insertRow(tx, 'attachments', { ...row, blob_id })
    for (const [n, digest] of digests.entries())
      await insertRow(tx, 'attachment_parts', { attachment_id: row.id!, n: n + 1, digest, stored: 1 })
  })
  const files = await ctx.files.open()
  for (const n of digests.keys()) await files.put(keyOfPart(id, n + 1), (await source.get(keyOfPart(blob.id, n + 1)))!)
  await ctx.write(async (tx) => {
    await lockDigest(tx, blob.digest!)
    const twin = await lockLiveBlob(tx, blob.digest!, size)
    if (twin === undefined) return setDigest(tx, id, blob.digest!)
    await markComplete(tx, String(row.id), { blob_id: twin, status: 'ready', expires_at: null })
    await releaseUnused(tx, [id], 0)
  })
}

async function storeThumbnail(ctx: Context, source: FileStore, { id: from, size }: CopiedBlob, to: Row): Promise<void> {
  const bytes = await source.get(keyOfPart(from, 1))
  if (bytes?.length !== Number(size)) return
  const id = await nameBlob(ctx, bytes.length, null, (tx, blob_id) =>
    setThumbnail(tx, String(to.id), { blob_id, type: to.thumbnail_type as string }),
  )
  await (await ctx.files.open()).put(keyOfPart(id, 1), bytes)
}

/** @param name adds what names the new bytes, in the same transaction */
async function nameBlob(
  ctx: Context,
  size: number,
  uploaded_by: string | null,
  name: (tx: Tx, id: string) => Promise<void>,
) {
  const id = ctx.id()
  await ctx.write(async (tx) => {
    await insertBlob(tx, { id, size, parts: countParts(size), created_at: ctx.now(), uploaded_by })
    await name(tx, id)
  })
  return id
}
