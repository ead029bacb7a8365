import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../storage/database.ts'

/** How long one batch may block the writer of SQLite, and the event loop. */
const TARGET_MS = 8

const MIN_ROWS = 20
const MAX_ROWS = 400

/** How many of these rows a transaction may delete now: fewer on a full disk, which allows small steps only. */
export function rowsAtOnce(db: Pick<Database, 'rowsAtOnce'>, rows: number): number {
  return db.rowsAtOnce?.(rows) ?? rows
}

/**
 * Runs `page` with up to `rows` rows at once, until it had fewer, or `isOver`.
 *
 * @param page returns the number of its rows
 * @returns the number of all
 */
export async function inPages(
  db: Pick<Database, 'rowsAtOnce'>,
  rows: number,
  page: (limit: number) => Promise<number>,
  isOver: () => boolean = () => false,
): Promise<number> {
  for (let total = 0; ; ) {
    const limit = rowsAtOnce(db, rows)
    const count = await page(limit)
    total += count
    if (count < limit || isOver()) return total
    await nextTurn()
  }
}

/**
 * One batch: up to `size` rows. @returns the milliseconds that its statements took; `undefined` when nothing is left
 */
export type Batch = (size: number) => Promise<number | undefined>

/** How batches run, where it is not as usual. */
export interface Pace {
  /** How long a batch is to take, in milliseconds. Default: 8. */
  target_ms?: number
  /** The least rows of a batch, however long they take on a busy machine. Default: 20. */
  smallest?: number
  /** How long the pause after a batch is, as a part of the batch. Default: 1. */
  rest?: number
}

/**
 * Runs batches until nothing is left or `isOver`, with a pause after each as long as the batch, so that other work gets
 * half of the time. The size depends on the duration: rows may be short or long, and disks slow.
 *
 * @returns whether nothing is left
 */
export async function inBatches(
  isOver: () => boolean,
  batch: Batch,
  { target_ms = TARGET_MS, smallest = MIN_ROWS, rest = 1 }: Pace = {},
): Promise<boolean> {
  let size = 100
  while (!isOver()) {
    const ms = await batch(size)
    if (ms === undefined) return true
    if (ms > target_ms) size = Math.max(smallest, Math.floor(size / 2))
    else if (ms < target_ms / 2) size = Math.min(MAX_ROWS, Math.ceil(size * 1.25))
    await sleep(Math.max(1, ms * rest))
  }
  return false
}
