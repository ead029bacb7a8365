import { countFiles, type FileTotals } from '../chat/attachments/store-checking.ts'
import { sweepFiles } from '../chat/attachments/sweep.ts'
import type { Context } from '../context.ts'
import { SECOND } from '../core/time.ts'
import { listGarbage } from './file-check.ts'

/** What was deleted from the storage of files, or would be. */
export interface CollectedFiles {
  /** Uploads that ran out, files that no message took, and files of deleted messages whose time is over. */
  expired: number
  /** Blobs that nothing refers to, with all of their bytes. */
  blobs: number
  /** Parts that no row names. */
  garbage: number
  /** Files that killed processes have left half written. */
  unfinished: number
}

/**
 * Deletes from the storage of files what nothing refers to: what the service does every minute, and bytes without a row, which
 * it does not look for.
 *
 * @param options.dry_run only counts
 * @param options.onProgress called with the number of deleted parts
 * @throws ChatError `unavailable`
 */
export async function collectFiles(
  ctx: Context,
  options: { dry_run?: boolean; onProgress?: (parts: number) => void } = {},
): Promise<CollectedFiles> {
  const { dry_run = false, onProgress } = options
  const files = await ctx.files()
  const swept = dry_run ? await countDue(ctx) : await sweepAll(ctx)
  let garbage = 0
  for await (const key of listGarbage(ctx)) {
    if (!dry_run) await files.remove(key)
    garbage++
    onProgress?.(garbage)
  }
  return { ...swept, garbage, unfinished: await files.removeUnfinished({ dry_run }) }
}

async function countDue(ctx: Context): Promise<Pick<CollectedFiles, 'expired' | 'blobs'>> {
  const { expired, due } = await fileTotals(ctx)
  return { expired, blobs: due }
}

/** Sweeps until all blobs were looked at. */
async function sweepAll(ctx: Context): Promise<Pick<CollectedFiles, 'expired' | 'blobs'>> {
  const round = { after: '' }
  const sum = { expired: 0, blobs: 0 }
  do {
    const { expired, blobs } = await sweepFiles(ctx, round)
    sum.expired += expired
    sum.blobs += blobs
  } while (round.after !== '')
  return sum
}

/** Counts of files, and of the bytes that they take. */
export function fileTotals(ctx: Context): Promise<FileTotals> {
  const now = ctx.now()
  return countFiles(ctx.db, now, now - ctx.config.attachments.grace_hours * 3_600 * SECOND)
}
