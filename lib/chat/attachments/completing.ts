import { hash } from 'node:crypto'
import type { Context } from '../../context.ts'
import { ChatError } from '../../core/errors.ts'
import { SECOND } from '../../core/units.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import { checkLater, statusOfComplete } from './checking.ts'
import { type CleanedBlob, storeCleaned } from './cleaning.ts'
import { countParts } from './rules.ts'
import type { Attachment } from './schema.ts'
import { UPLOAD_SECONDS } from './service.ts'
import { type AttachmentRow, lockAttachment, markComplete, toAttachment } from './store.ts'
import { lockDigest, lockLive, lockLiveBlob, releaseUnused, setDigest } from './store-blobs.ts'
import { listStored } from './store-parts.ts'
import { removeBytes } from './sweep.ts'

/**
 * Ends an upload whose parts are all stored: bytes that exist already are not stored again.
 *
 * @param cleaned the bytes that replace those of the upload
 */
export async function complete(ctx: Context, tx: Tx, row: AttachmentRow, cleaned?: CleanedBlob): Promise<Attachment> {
  const { blob_id, digests } = cleaned ?? { blob_id: row.blob_id!, digests: await digestsOf(tx, row.id) }
  const digest = hash('sha256', digests, 'base64url')
  await lockDigest(tx, digest)
  const twin = await lockLiveBlob(tx, digest, row.size)
  if (twin === undefined) await setDigest(tx, blob_id, digest)
  const kept = twin ?? blob_id
  const expires_at = ctx.now() + UPLOAD_SECONDS * SECOND
  await markComplete(tx, row.id, { blob_id: kept, status: statusOfComplete(ctx), expires_at })
  const completed = (await lockAttachment(tx, row.id))!
  checkLater(ctx, tx, completed)
  // No message ever had them. A part that is being sent a second time is deleted by the call that writes it.
  const unused = [row.blob_id!, blob_id].filter((id) => id !== kept)
  await releaseUnused(tx, unused, 0)
  return toAttachment(completed)
}

/** The SHA-256s of the parts of an upload, one after another. */
async function digestsOf(tx: Tx, attachmentId: string): Promise<Buffer> {
  const parts = await listStored(tx, attachmentId)
  return Buffer.concat(parts.map((part) => Buffer.from(part.digest, 'base64url')))
}

/**
 * Ends an upload whose parts are all there, and which may have metadata. What ends in between is done again when a part is
 * sent again.
 *
 * @returns `undefined` if another call has ended it
 * @throws ChatError `not_found` for an upload that was removed; `storage_full`, `unavailable`
 */
export async function cleanAndComplete(
  ctx: Context,
  row: AttachmentRow,
): Promise<{ attachment: Attachment } | undefined> {
  const cleaned = await storeCleaned(ctx, row)
  const completed = await ctx.write(async (tx) => {
    const locked = await lockAttachment(tx, row.id)
    if (locked?.status !== 'uploading') {
      if (cleaned) await releaseUnused(tx, [cleaned.blob_id], 0)
      return locked ? undefined : 'removed'
    }
    // The sweep may have taken them for bytes that no file has.
    if (cleaned && !(await lockLive(tx, cleaned.blob_id))) return 'swept'
    return { attachment: await complete(ctx, tx, locked, cleaned) }
  })
  if (completed === 'removed') throw new ChatError('not_found')
  if (completed !== 'swept') return completed
  await removeBytes(ctx, { id: cleaned!.blob_id, parts: countParts(row.size) })
  throw new ChatError('unavailable', { retry_after_seconds: 1 })
}
