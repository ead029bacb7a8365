import { checkLater } from '../../chat/attachments/checking.ts'
import { toList } from '../../chat/attachments/rules.ts'
import { listOfMessage, lockAttachment, setList, toAttachment } from '../../chat/attachments/store.ts'
import { letGo, lockDigest, lockLiveBlob, releaseUnused, takeBack } from '../../chat/attachments/store-blobs.ts'
import { listWithBlob, markBlobLost, type WholeBlob } from '../../chat/attachments/store-checking.ts'
import { type ComingFile, listComing, listLostBlobs, markBack } from '../../chat/attachments/store-lost.ts'
import { gracePeriod } from '../../chat/attachments/sweep.ts'
import { lockConversation } from '../../chat/memberships/store-locks.ts'
import type { Context } from '../../context.ts'
import { DAY, SECOND } from '../../core/units.ts'
import type { FileStore } from '../../files/file-store.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import { checkBlob } from './blob-check.ts'

/** The number of blobs of one step. */
const BATCH = 100

/** What a repair lets go of is kept for so long, in microseconds: a disk may be found again. */
const KEPT = 30 * DAY

/** Marks the attachments of a blob whose bytes are lost, and the lists of their messages. */
export async function markLost(ctx: Context, blobId: string): Promise<void> {
  const lost = await listWithBlob(ctx.db, blobId)
  const now = ctx.now()
  const at = Math.max(now, now + KEPT - gracePeriod(ctx))
  await ctx.write(async (tx) => {
    await lockConversations(tx, lost)
    await markBlobLost(tx, blobId, now)
    await renewLists(tx, lost)
    // The next upload of the same bytes must not take it.
    await letGo(tx, blobId, at)
    const thumbnails = lost.flatMap((row) => (row.blob_id === blobId ? (row.thumbnail_blob_id ?? []) : []))
    await releaseUnused(tx, thumbnails, at)
  })
}

/** What became of lost files. */
export interface RecoveredFiles {
  /** Files that can be read again. */
  recovered: number
}

/**
 * Gives files that a repair has marked as gone their bytes again, where these very bytes are there: after a disk was found
 * again, or a folder was restored. Files that were deleted, erased, refused, or ran out do not come back.
 *
 * @throws ChatError `unavailable` if the storage does not answer
 */
export async function recoverFiles(ctx: Context): Promise<RecoveredFiles> {
  const files = await ctx.files.place.unguarded()
  let recovered = 0
  for (let after = ''; ; ) {
    const blobs = await listLostBlobs(ctx.db, { after, limit: BATCH, ...timesOf(ctx) })
    for (const blob of blobs)
      if ((await checkBlob(files, blob, true)) === 'there') recovered += await bringBack(ctx, blob)
    if (blobs.length < BATCH) return { recovered }
    after = blobs.at(-1)!.id
  }
}

/** How many of the newest lost files are looked for. */
const NEWEST = 20

/** Whether one of the newest files that a repair has marked as gone is there. @throws ChatError `unavailable` */
export async function hasLost(ctx: Context, files: FileStore): Promise<boolean> {
  for (const blob of await listLostBlobs(ctx.db, { newest: true, limit: NEWEST, ...timesOf(ctx) }))
    if ((await checkBlob(files, blob, false)) === 'there') return true
  return false
}

/** A blob whose time is nearly over is left to the sweep, which may be deleting its bytes. */
function timesOf(ctx: Context) {
  const now = ctx.now()
  return { now, due: now - gracePeriod(ctx) + 3_600 * SECOND }
}

/** @returns the number of files */
async function bringBack(ctx: Context, { id, digest, size }: Omit<WholeBlob, 'files'>): Promise<number> {
  const before = await listComing(ctx.db, id, timesOf(ctx))
  return ctx.write(async (tx) => {
    // As a post locks: the conversations first.
    await lockConversations(tx, before)
    await lockDigest(tx, digest!)
    const twin = await lockLiveBlob(tx, digest!, Number(size))
    const coming = await listComing(tx, id, timesOf(ctx))
    const hidden = new Set(before.map((row) => row.conversation_id))
    const rows = coming.filter((row) => hidden.has(row.conversation_id))
    if (rows.length === 0) return 0
    // Equal bytes are stored once: as uploaded since, if they were.
    if (twin === undefined && !(await takeBack(tx, id))) return 0
    await markBack(
      tx,
      rows.map((row) => row.id),
      twin ?? id,
    )
    await renewLists(tx, rows)
    for (const row of rows) await announce(ctx, tx, row)
    return rows.length
  })
}

/** A file is checked if it was not yet, and gets a thumbnail again. */
async function announce(ctx: Context, tx: Tx, { id, conversation_id, message_id }: ComingFile): Promise<void> {
  const { thumbnail } = ctx.host
  const row = (await lockAttachment(tx, id))!
  if (row.status === 'scanning') tx.enqueue({ kind: 'files.check', key: id })
  else checkLater({ config: ctx.config, host: { ...(thumbnail && { thumbnail }) } }, tx, row)
  if (message_id !== null)
    tx.emit(conversation_id, { type: 'attachment.changed', message_id, detail: { attachment_id: id } })
}

type OfMessage = Pick<ComingFile, 'conversation_id' | 'message_id'>

async function lockConversations(tx: Tx, rows: readonly OfMessage[]): Promise<void> {
  for (const id of [...new Set(rows.map(({ conversation_id }) => conversation_id))].sort())
    await lockConversation(tx, id)
}

async function renewLists(tx: Tx, rows: readonly OfMessage[]): Promise<void> {
  for (const id of new Set(rows.flatMap(({ message_id }) => message_id ?? [])))
    await setList(tx, id, toList((await listOfMessage(tx, id)).map(toAttachment)))
}
