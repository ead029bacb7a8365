import { deleteExpiredDevices } from '../auth/devices.ts'
import { deleteOldFailures } from '../auth/failures.ts'
import type { Context } from '../context.ts'
import type { Queries } from '../storage/database.ts'
import type { Micros } from '../storage/sql.ts'
import { deleteDryBuckets } from './buckets.ts'

/** Rows a transaction deletes at most, so that others are not kept waiting. */
const BATCH = 500

/**
 * Clears away what was counted and says nothing any more: buckets that have run dry, failures that are too long ago,
 * browsers in which nobody has signed in for long.
 *
 * @returns how many rows there were
 */
export async function prune(ctx: Pick<Context, 'db' | 'now'>): Promise<number> {
  let total = 0
  for (const remove of [deleteDryBuckets, deleteOldFailures, deleteExpiredDevices]) total += await drain(ctx, remove)
  return total
}

async function drain(
  { db, now }: Pick<Context, 'db' | 'now'>,
  remove: (tx: Queries, now: Micros, limit: number) => Promise<number>,
): Promise<number> {
  for (let total = 0; ; ) {
    const deleted = await db.write((tx) => remove(tx, now(), BATCH))
    total += deleted
    if (deleted < BATCH) return total
  }
}
