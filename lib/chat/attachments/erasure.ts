import { isOwnPhoto } from '../../accounts/users/photos.ts'
import type { UserRow } from '../../accounts/users/store.ts'
import type { Context } from '../../context.ts'
import type { Queries } from '../../storage/database.ts'
import { OWN_PHOTOS } from '../../storage/own-photos.ts'
import { inPages } from '../../tasks/batches.ts'
import { blobsOf, forgetOwner, releaseUnused } from './store-blobs.ts'
import { takeOfMessages, takeUnattached } from './store-releasing.ts'

/** The number of uploads deleted at a time. */
const BATCH = 100

/** Their bytes are deleted by the next sweep: nothing waits for them. */
const NEXT_SWEEP = 0

/** Deletes the files of messages that are being erased. */
export async function eraseFiles(tx: Queries, messageIds: string[]): Promise<void> {
  await releaseUnused(tx, blobsOf(await takeOfMessages(tx, messageIds)), NEXT_SWEEP)
}

/** Deletes the bytes of the photo of a user who was deleted. */
export async function eraseOwnPhoto(tx: Queries, { avatar_url }: Pick<UserRow, 'avatar_url'>): Promise<void> {
  if (isOwnPhoto(avatar_url)) await releaseUnused(tx, [avatar_url.slice(OWN_PHOTOS.length)], NEXT_SWEEP)
}

/** Deletes the files without a message of a user who is being erased. Other users' files of the same bytes stay. */
export async function eraseUploads(ctx: Context, userId: string): Promise<void> {
  const deleteSome = (limit: number) =>
    ctx.write(async (tx) => {
      const taken = await takeUnattached(tx, userId, limit)
      await releaseUnused(tx, blobsOf(taken), NEXT_SWEEP)
      return taken.length
    })
  await inPages(ctx.db, BATCH, deleteSome)
  await inPages(ctx.db, BATCH, (limit) => ctx.write((tx) => forgetOwner(tx, userId, limit)))
}
