import { hash } from 'node:crypto'
import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import type { NamesOf } from '../../core/known-names.ts'
import { assertKnown } from '../../core/use-case.ts'
import type { Queries } from '../../storage/database.ts'
import { requireAttachment, requireUploader } from './access.ts'
import { mayNeedCleaning } from './cleaning.ts'
import { cleanAndComplete, complete } from './completing.ts'
import { toStoredPart } from './first-part.ts'
import { countParts, digestIn, keyOfPart, lengthOfPart } from './rules.ts'
import type { Attachment } from './schema.ts'
import { assertSpace } from './space.ts'
import { type AttachmentRow, lockAttachment, setSniffed } from './store.ts'
import { countStored, findPart, markStored, notePart } from './store-parts.ts'

/** Reads the bytes of a part. */
export type ReadPart = (
  length: number,
  buffer: Uint8Array,
  signal: AbortSignal,
  onBytes: (count: number) => void,
) => Promise<Uint8Array>

/** The bytes of a part. */
export interface PartInput {
  /**
   * The bytes, or a function that reads them when their number is known, and it is their turn. It may fill and return the
   * buffer that it gets, which is used for other parts once this one is stored. It calls `onBytes` with the number of bytes of
   * each piece; fewer than 64 KiB in 10 seconds abort `signal` while others wait. It is also aborted when the service stops.
   */
  bytes: Uint8Array | ReadPart
  /** The `Content-Digest` of the part: with another SHA-256 it is refused. */
  content_digest?: string | null | undefined
}

const PART: NamesOf<PartInput> = { bytes: 0, content_digest: 0 }

/**
 * Stores a part of an upload. The same part with the same bytes changes nothing, also when the upload is complete.
 *
 * The bytes are durable before the upload counts the part: a process that dies leaves no part without bytes.
 *
 * @param n the number of the part, from 1
 * @returns the attachment, for the call that completes the upload
 * @throws ChatError `not_found` for another's upload, one that ran out, and a part that it does not have; `forbidden`;
 *   `validation_failed` for bytes of another length or digest; `conflict` for a part that is stored with other bytes;
 *   `unsupported_media_type` for a type that is not allowed; `rate_limited` with too many parts at once; `request_timeout` for
 *   one that is too slow while others wait; `storage_full`, `unavailable`
 */
export async function putPart(
  ctx: Context,
  actor: Actor,
  attachmentId: string,
  n: number,
  part: PartInput,
): Promise<{ attachment: Attachment } | undefined> {
  assertPart(part)
  assertKnown(part, PART)
  const { row } = await requireAttachment(ctx, ctx.db, actor, attachmentId)
  if (row.uploaded_by !== actor.user_id) throw new ChatError('not_found')
  await requireUploader(ctx, ctx.db, actor, row.conversation_id)
  const length = lengthOfPart(row.size, n)
  if (length === 0) throw new ChatError('not_found')
  const { bytes, content_digest } = part
  if (typeof bytes !== 'function')
    return ctx.files.partSlots.take(actor.user_id, 0, () => take(ctx, row, n, { bytes, content_digest, length }))
  return ctx.files.partSlots.take(actor.user_id, length, async ({ buffer, signal, onBytes }) =>
    take(ctx, row, n, { bytes: await bytes(length, buffer, signal, onBytes), content_digest, length }),
  )
}

/** A caller without types may pass the bytes themselves, or a stream. @throws ChatError `validation_failed` */
function assertPart(part: unknown): void {
  const { bytes } = Object(part) as { bytes?: unknown }
  if (bytes instanceof Uint8Array || typeof bytes === 'function') return
  const message = 'must be { bytes }, a Uint8Array or a function that reads them; a stream is for attachments.upload'
  throw new ChatError('validation_failed', {
    message: `Argument 4, "part", ${message}.`,
    errors: [{ path: 'part', message }],
  })
}

/** Stores a part if it is not there. */
async function take(
  ctx: Context,
  row: AttachmentRow,
  n: number,
  {
    bytes: original,
    content_digest,
    length,
  }: { bytes: Uint8Array; length: number } & Pick<PartInput, 'content_digest'>,
): Promise<{ attachment: Attachment } | undefined> {
  assertWhole(original, length, content_digest)
  const { bytes, ...seen } = toStoredPart(ctx.config.attachments, original, { name: row.name, n })
  await assertSpace(ctx, row, length)
  const digest = digestOf(bytes)
  const noted =
    row.status === 'uploading'
      ? // Its mark is durable, and with it this. Without the mark no part is counted, and its note may be lost.
        await ctx.write((tx) => notePart(tx, row.id, { n, digest }, ctx.now()), {
          durable: false,
          full_disk: 'refused',
        })
      : await findPart(ctx.db, row.id, n)
  if (!noted) throw new ChatError('not_found')
  if (noted.digest !== digest)
    throw new ChatError('conflict', { message: 'This part is there already, with other bytes.' })
  if (noted.stored === 1) return completeAgain(ctx, row)
  return store(ctx, { row, n, bytes, seen })
}

/** Completes an upload whose parts are all stored, if the call that should have completed it could not. */
async function completeAgain(ctx: Context, row: AttachmentRow): Promise<{ attachment: Attachment } | undefined> {
  const isLeft = row.status === 'uploading' && mayNeedCleaning(ctx, row) && (await isWhole(ctx.db, row))
  return isLeft ? cleanAndComplete(ctx, row) : undefined
}

/** @throws ChatError `validation_failed` */
function assertWhole(bytes: Uint8Array, length: number, contentDigest: string | null | undefined): void {
  const refuse = (path: string, message: string) => new ChatError('validation_failed', { errors: [{ path, message }] })
  if (bytes.length !== length) throw refuse('', `must be exactly ${length} bytes`)
  const expected = digestIn(contentDigest)
  if (expected !== undefined && hash('sha256', bytes, 'base64') !== expected)
    throw refuse('content-digest', 'is not the digest of these bytes')
}

const digestOf = (bytes: Uint8Array) => hash('sha256', bytes, 'base64url')

/** What the first part shows of a file. */
interface Seen {
  sniffed?: string
  width?: number
  height?: number
}

/** Stores the bytes of a part, and then its row. The last one completes the upload. */
async function store(
  ctx: Context,
  { row, n, bytes, seen }: { row: AttachmentRow; n: number; bytes: Uint8Array; seen: Seen },
): Promise<{ attachment: Attachment } | undefined> {
  const files = await ctx.files.open()
  const key = keyOfPart(row.blob_id!, n)
  await files.put(key, bytes)
  const outcome = await ctx.write(async (tx) => {
    // Parts of one upload wait for each other here, so that one of them is the last.
    const locked = await lockAttachment(tx, row.id)
    if (locked?.status !== 'uploading') return { isGone: !locked, isUnknown: locked?.blob_id !== row.blob_id }
    await markStored(tx, row.id, n)
    const { sniffed, width = null, height = null } = seen
    if (sniffed !== undefined) await setSniffed(tx, row.id, { sniffed, width, height })
    if (!(await isWhole(tx, row))) return {}
    if (mayNeedCleaning(ctx, { ...locked, ...seen })) return { isToClean: true }
    return { attachment: await complete(ctx, tx, locked) }
  })
  // It was removed, erased, or got other bytes since: no sweep knows of this part.
  if (outcome.isUnknown) await files.remove(key)
  if (outcome.isGone) throw new ChatError('not_found')
  if (outcome.isToClean) return cleanAndComplete(ctx, row)
  return outcome.attachment && { attachment: outcome.attachment }
}

async function isWhole(db: Queries, { id, size }: AttachmentRow): Promise<boolean> {
  return (await countStored(db, id)) === countParts(size)
}
