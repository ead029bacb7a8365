import type { Queries } from '../storage/database.ts'
import type { FileStore } from './file-store.ts'
import { listBlobs, listFilesWithBlob, listStoredBlobs, type StoredBlob } from './store.ts'

/** The number of rows of one step. */
const BATCH = 500

/** The number of ids that are listed. */
const MAX_EXAMPLES = 10

/** What a copy of files has done. */
export interface CopiedFiles {
  /** Files of messages, and uploads that no message has yet, whose bytes are all at the target. */
  files: number
  /** Parts that were copied; those that were there already are not. */
  parts: number
  bytes: number
  /** Files of which the source lacks bytes, and the ids of some. */
  missing: number
  missing_ids: string[]
}

/** Options of a copy. */
export interface CopyOptions {
  /** Called with the numbers so far. */
  onProgress?: (copied: CopiedFiles) => void
  signal?: AbortSignal
  /** Only these, by their ids. */
  ids?: readonly string[]
}

/**
 * Copies the bytes that a database names from one storage of files to another. Bytes never change under their name, so what
 * the target has already, in the same size, is not read: the next copy takes only what is new.
 *
 * What is deleted during the copy is passed over. Copied after a backup of the database, the files have all that it
 * names, if that takes less than `attachments.grace_hours`.
 *
 * @throws ChatError `storage_full`, `unavailable`
 */
export async function copyFiles(
  db: Queries,
  { from, to }: { from: FileStore; to: FileStore },
  { onProgress, signal, ids }: CopyOptions = {},
): Promise<CopiedFiles> {
  const copied: CopiedFiles = { files: 0, parts: 0, bytes: 0, missing: 0, missing_ids: [] }
  for await (const blobs of pagesOf(db, ids)) {
    for (const blob of blobs) {
      signal?.throwIfAborted()
      const isThere = await copyBlob(blob, { from, to }, copied)
      if (isThere) copied.files += Number(blob.files)
      else if (Number(blob.files) > 0) {
        copied.missing += Number(blob.files)
        copied.missing_ids.push(...(await listFilesWithBlob(db, blob.id, MAX_EXAMPLES - copied.missing_ids.length)))
      }
      onProgress?.(copied)
    }
  }
  return copied
}

async function* pagesOf(db: Queries, ids: readonly string[] | undefined): AsyncGenerator<StoredBlob[]> {
  if (ids) {
    for (let at = 0; at < ids.length; at += BATCH) yield listStoredBlobs(db, ids.slice(at, at + BATCH))
    return
  }
  for (
    let after = '', blobs: StoredBlob[] = [];
    after === '' || blobs.length === BATCH;
    after = blobs.at(-1)?.id ?? ''
  ) {
    blobs = await listBlobs(db, after, BATCH)
    yield blobs
  }
}

/** @returns whether the target has all parts */
async function copyBlob(
  { id, parts }: StoredBlob,
  { from, to }: { from: FileStore; to: FileStore },
  copied: CopiedFiles,
): Promise<boolean> {
  const [sizes, existing] = [await from.sizes(id), await to.sizes(id)]
  for (const [n, size] of sizes) {
    if (existing.get(n) === size) continue
    const bytes = await from.get(`${id}/${n}`)
    if (!bytes) continue
    await to.put(`${id}/${n}`, bytes)
    existing.set(n, bytes.length)
    copied.parts++
    copied.bytes += bytes.length
  }
  return existing.size >= Number(parts)
}
