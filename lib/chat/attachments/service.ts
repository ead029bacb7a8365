import type { Context } from '../../context.ts'
import { assertMayWrite, hasRight } from '../../core/access.ts'
import type { Actor } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { toInstant } from '../../core/time.ts'
import { SECOND } from '../../core/units.ts'
import { useCase } from '../../core/use-case.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import { assertJoined } from '../memberships/access.ts'
import { assertEnabled, requireAttachment, requireUploader } from './access.ts'
import { countParts, quoted } from './rules.ts'
import { type Attachment, AttachmentInput, type AttachmentState, PART_BYTES, type Upload } from './schema.ts'
import { assertSpace } from './space.ts'
import {
  countUnderWay,
  deleteAttachments,
  findAttachment,
  insertAttachment,
  lockAttachment,
  lockUploader,
  sumOfUser,
  toAttachment,
} from './store.ts'
import { blobsOf, insertBlob, lockSizes, releaseUnused, sumOfBlobs, sumOfUnused } from './store-blobs.ts'
import { listStored } from './store-parts.ts'

/** How long an upload may take, and how long a file waits for a message. */
export const UPLOAD_SECONDS = 24 * 60 * 60

/** The uploads of a user that may be under way at once. */
const MAX_UNDER_WAY = 20

/** When to try again with too many uploads: one of them may be complete by then. */
const RETRY_SECONDS = 30

/**
 * Begins the upload of a file into a conversation.
 *
 * @throws ChatError `not_found`, also where there are no files; `forbidden` for a viewer or a read-only user;
 *   `payload_too_large` beyond `attachments.max_bytes`; `quota_exceeded`; `rate_limited` with 20 uploads under way;
 *   `storage_full`; `unavailable` while the storage of files is missing
 */
export const create = useCase({
  takes: ['actor', 'conversation_id'],
  input: AttachmentInput,
  errors: ['not_found', 'forbidden', 'conflict', 'payload_too_large', 'quota_exceeded', 'rate_limited', 'storage_full'],
  run: async (ctx, actor, conversation_id, { name, size, type = null }): Promise<Upload> => {
    assertEnabled(ctx)
    await requireUploader(ctx, ctx.db, actor, conversation_id)
    const { max_bytes } = ctx.config.attachments
    if (size > max_bytes)
      throw new ChatError('payload_too_large', { message: `${quoted(name)} is larger than ${max_bytes} bytes.` })
    await assertSpace(ctx, { name }, size)
    const row = await ctx.write(
      async (tx) => {
        await lockUploader(tx, actor.user_id)
        await requireUploader(ctx, tx, actor, conversation_id)
        await assertRoom(ctx, tx, actor, { name, size })
        const now = ctx.now()
        const [id, blob_id] = [ctx.id(), ctx.id()]
        const expires_at = now + UPLOAD_SECONDS * SECOND
        const upload = { conversation_id, uploaded_by: actor.user_id, name: name.normalize('NFC'), type, size }
        await insertBlob(tx, {
          id: blob_id,
          size,
          parts: countParts(size),
          created_at: now,
          uploaded_by: actor.user_id,
        })
        await insertAttachment(tx, { id, blob_id, created_at: now, expires_at, ...upload })
        return (await lockAttachment(tx, id))!
      },
      { full_disk: 'refused' },
    )
    const upload_expires_at = toInstant(row.expires_at!)
    return { attachment: toAttachment(row), part_bytes: PART_BYTES, parts: countParts(size), upload_expires_at }
  },
})

/** @throws ChatError `rate_limited`, `quota_exceeded`, `storage_full` */
async function assertRoom(
  { config, now }: Context,
  tx: Tx,
  { user_id }: Actor,
  { name, size }: Pick<AttachmentInput, 'name' | 'size'>,
): Promise<void> {
  const { per_user_bytes, total_bytes } = config.attachments
  if ((await countUnderWay(tx, user_id, now())) >= MAX_UNDER_WAY)
    throw new ChatError('rate_limited', {
      message: `You have ${MAX_UNDER_WAY} uploads under way: complete or remove one first.`,
      retry_after_seconds: RETRY_SECONDS,
    })
  if (per_user_bytes > 0) {
    const used = (await sumOfUser(tx, user_id)) + (await sumOfUnused(tx, user_id))
    if (used + size > per_user_bytes)
      throw new ChatError('quota_exceeded', {
        message: `${quoted(name)} has ${size} bytes, and your files take ${used} of ${per_user_bytes}, with deleted ones that are still stored.`,
      })
  }
  if (total_bytes === 0) return
  await lockSizes(tx)
  if ((await sumOfBlobs(tx)).bytes + size > total_bytes)
    throw new ChatError('storage_full', {
      message: `There is no room for ${quoted(name)}: all files together take all they may.`,
    })
}

/**
 * The state of an attachment: for its uploader, and once a message has it, for each user who may read or restore the
 * message.
 *
 * @throws ChatError `not_found`
 */
export const get = useCase({
  takes: ['actor', 'attachment_id'],
  errors: ['not_found'],
  run: (ctx, actor, id): Promise<AttachmentState> => {
    return ctx.db.snapshot(async (db) => {
      const { row, membership } = await requireAttachment(ctx, db, actor, id)
      const mayKnow = row.uploaded_by === actor.user_id || hasRight(ctx.access, membership.role, 'moderate')
      const received = row.status === 'uploading' ? (await listStored(db, id)).map(({ n }) => Number(n)) : undefined
      const isWaiting = row.message_id === null && row.expires_at !== null
      return {
        attachment: withReason(toAttachment(row), mayKnow),
        ...(received && { received }),
        ...(isWaiting && { upload_expires_at: toInstant(row.expires_at!) }),
      }
    })
  },
})

/** Why a file was refused is for its uploader and for moderators. */
function withReason({ reason, ...attachment }: Attachment, mayKnow: boolean): Attachment {
  return mayKnow && reason !== undefined ? { ...attachment, reason } : attachment
}

/**
 * Deletes a file that no message has, or ends its upload.
 *
 * @throws ChatError `not_found`; `forbidden` for a file of another user; `conflict` for a file that a message has
 */
export const remove = useCase({
  takes: ['actor', 'attachment_id'],
  errors: ['not_found', 'forbidden', 'conflict'],
  frees: 'half',
  run: async (ctx, actor, id): Promise<void> => {
    assertEnabled(ctx)
    await ctx.write(async (tx) => {
      // Locked first: a message may be taking it.
      const row = (await lockAttachment(tx, id)) && (await findAttachment(tx, id))
      const { membership } = await requireAttachment(ctx, tx, actor, id)
      assertMayWrite(ctx.access, actor)
      assertJoined(membership)
      if (row!.uploaded_by !== actor.user_id)
        throw new ChatError('forbidden', { reason: 'participant_role', right: 'attach' })
      if (row!.message_id !== null)
        throw new ChatError('conflict', { message: 'A message has this file: edit or delete the message.' })
      await deleteAttachments(tx, [id])
      // No message ever had it: no backup needs its bytes.
      await releaseUnused(tx, blobsOf([row!]), 0)
    })
  },
})
