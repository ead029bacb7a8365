import { hash } from 'node:crypto'
import type { Context } from '../../context.ts'
import { ChatError } from '../../core/errors.ts'
import type { FileStore } from '../../files/file-store.ts'
import { cleanJpeg, type JpegState } from '../../files/jpeg-metadata.ts'
import { createEventLoopQueue } from '../../live/hub/event-loop-queue.ts'
import { countParts, keyOfPart } from './rules.ts'
import { assertSpace } from './space.ts'
import type { AttachmentRow } from './store.ts'
import { insertBlob } from './store-blobs.ts'

/** How many files are read at once: each has up to three parts in memory. */
const CONCURRENCY = 3

/** Lets files wait for their turn to be read. */
export type CleaningTurns = ReturnType<typeof createCleaningQueue>

/** Creates the turns of a process. */
export const createCleaningQueue = () => createEventLoopQueue<object>(CONCURRENCY)

/** Bytes that are to be those of a file. */
export interface CleanedBlob {
  blob_id: string
  /** The SHA-256s of its parts, one after another. */
  digests: Buffer
}

/**
 * Whether a file may have metadata behind its first part, which lost its own when it arrived: a JPEG has it behind large
 * segments, or in pictures and films that follow it.
 */
export function mayNeedCleaning(
  { config }: Pick<Context, 'config'>,
  { sniffed, size }: Pick<AttachmentRow, 'sniffed' | 'size'>,
): boolean {
  return config.attachments.strip_metadata && sniffed === 'image/jpeg' && countParts(size) > 1
}

/**
 * Stores a JPEG of several parts again, without its metadata, once all parts are stored. They stay as they are: a part
 * that is sent twice may still be written.
 *
 * @returns `undefined` if there is no metadata. Unless the file gets the new bytes, the sweep deletes them
 */
export function storeCleaned(ctx: Context, row: AttachmentRow): Promise<CleanedBlob | undefined> {
  return ctx.files.cleaningTurns.take({}, () => clean(ctx, row))
}

async function clean(
  ctx: Context,
  { blob_id, name, size, uploaded_by }: AttachmentRow,
): Promise<CleanedBlob | undefined> {
  const files = await ctx.files.open()
  const parts = countParts(size)
  const digests: Buffer[] = []
  let isClean = true
  for await (const { given: original, bytes } of cleanedParts(files, blob_id!, parts)) {
    isClean &&= bytes.equals(original)
    digests.push(hash('sha256', bytes, 'buffer'))
  }
  if (isClean) return undefined
  const id = ctx.id()
  await assertSpace(ctx, { name }, size)
  await ctx.write((tx) => insertBlob(tx, { id, size, parts, created_at: ctx.now(), uploaded_by }), {
    full_disk: 'refused',
  })
  let n = 0
  for await (const { bytes } of cleanedParts(files, blob_id!, parts)) await files.put(keyOfPart(id, ++n), bytes)
  return { blob_id: id, digests: Buffer.concat(digests) }
}

/** The parts of a JPEG in their order, as they are and without metadata. @throws ChatError `unavailable` */
async function* cleanedParts(
  files: FileStore,
  blobId: string,
  parts: number,
): AsyncGenerator<{ given: Uint8Array; bytes: Buffer }> {
  let state: JpegState | undefined
  for (let n = 1; n <= parts; n++) {
    const original = await files.get(keyOfPart(blobId, n))
    if (!original) throw new ChatError('unavailable', { cause: new Error(`${keyOfPart(blobId, n)} is missing`) })
    const cleaned = cleanJpeg(original, state)
    state = cleaned.state
    yield { given: original, bytes: cleaned.bytes }
  }
}
