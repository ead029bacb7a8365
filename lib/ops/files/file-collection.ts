import { countFiles, type FileTotals } from '../../chat/attachments/store-checking.ts'
import { gracePeriod, sweepFiles } from '../../chat/attachments/sweep.ts'
import type { Context } from '../../context.ts'
import { ChatError } from '../../core/errors.ts'
import { assertKnown } from '../../core/use-case.ts'
import type { FileStore } from '../../files/file-store.ts'
import { listGarbage } from './file-check.ts'

/** What was deleted from the storage of files, or would be. */
export interface CollectedFiles {
  /** Uploads that ran out, files that no message took, and expired files of deleted messages. */
  expired: number
  /** Blobs that nothing refers to, with all of their bytes. */
  blobs: number
  /** Parts that no row names. */
  garbage: number
  /** Files that killed processes have left half written. */
  unfinished: number
  /** The size of the deleted bytes of blobs, and of parts that no row names, as far as they were there. */
  bytes: number
  /** Blobs, and parts that no row names, that the storage could not delete: they are tried again. */
  failed: number
}

/**
 * Deletes from the storage of files what nothing refers to: what the service does every minute, and bytes without a row, which
 * it does not look for.
 *
 * @param options.dry_run only counts
 * @param options.now also what is kept for `attachments.grace_hours`; not what a repair has let go of, which stays 30 days
 * @param options.onProgress called with the number of deleted parts
 * @throws ChatError `unavailable` if the storage cannot be listed, or is missing; `conflict` if another database owns it
 */
export async function collectFiles(
  ctx: Context,
  options: { dry_run?: boolean; now?: boolean; onProgress?: (parts: number) => void } = {},
): Promise<CollectedFiles> {
  assertKnown(options, { dry_run: 0, now: 0, onProgress: 0 })
  const { dry_run = false, now = false, onProgress } = options
  const grace = now ? 0 : gracePeriod(ctx)
  const files = await ctx.files.open()
  const isOwned = await ctx.files.place.mayDelete()
  ctx.files.place.assertThere()
  if (!isOwned) throw new ChatError('conflict', { message: NOT_OWNED })
  // Before the rest, as a folder that loses its last object takes them along uncounted.
  const unfinished = await files.removeUnfinished({ dry_run })
  const swept = dry_run ? await countDue(ctx, grace) : await sweepAll(ctx, grace)
  let garbage = 0
  let { failed, bytes } = swept
  for await (const key of listGarbage(ctx, files)) {
    const size = dry_run ? 0 : await sizeOfPart(files, key)
    const isRemoved = dry_run || (await files.remove(key).then(isDone, isNotDone))
    if (isRemoved) garbage++
    else failed++
    if (isRemoved) bytes += size
    onProgress?.(garbage)
  }
  return { ...swept, garbage, failed, unfinished, bytes }
}

const NOT_OWNED =
  'Nothing is deleted: another database owns the storage of files, and this one may be a copy. If it is not, run "chat-server attachments adopt" first.'

const isDone = () => true
const isNotDone = () => false

async function sizeOfPart(files: FileStore, key: string): Promise<number> {
  const [id, n] = key.split('/') as [id: string, n: string]
  return (await files.sizes(id)).get(Number(n)) ?? 0
}

type SweptFiles = Pick<CollectedFiles, 'expired' | 'blobs' | 'bytes' | 'failed'>

async function countDue(ctx: Context, grace: number): Promise<SweptFiles> {
  const { expired, due } = await countFiles(ctx.db, ctx.now(), ctx.now() - grace)
  return { expired, blobs: due, bytes: 0, failed: 0 }
}

/** Sweeps until all blobs were checked. */
async function sweepAll(ctx: Context, grace: number): Promise<SweptFiles> {
  const round = { after: '' }
  const sum = { expired: 0, blobs: 0, bytes: 0, failed: 0 }
  do {
    const { expired, blobs, bytes, failed } = await sweepFiles(ctx, round, { grace, measure: true })
    // Each sweep tries the same ones.
    sum.failed = Math.max(sum.failed, failed)
    sum.expired += expired
    sum.blobs += blobs
    sum.bytes += bytes
  } while (round.after !== '')
  return sum
}

/** Counts of files, and of the bytes that they take. */
export function fileTotals(ctx: Context): Promise<FileTotals> {
  const now = ctx.now()
  return countFiles(ctx.db, now, now - gracePeriod(ctx))
}
