import { setTimeout as sleep } from 'node:timers/promises'

/** How long one batch may block the writer of SQLite, and the event loop. */
const TARGET_MS = 8

const SMALLEST = 20
const LARGEST = 400

/**
 * One batch: up to `size` rows. @returns the milliseconds that its statements took; `undefined` when nothing is left
 */
export type Batch = (size: number) => Promise<number | undefined>

/**
 * Runs batches until nothing is left or `isOver`, with a pause after each as long as the batch, so that other work gets
 * half of the time. The size depends on the duration: rows may be short or long, and disks slow.
 *
 * @returns whether nothing is left
 */
export async function inBatches(isOver: () => boolean, batch: Batch): Promise<boolean> {
  let size = 100
  while (!isOver()) {
    const ms = await batch(size)
    if (ms === undefined) return true
    if (ms > TARGET_MS) size = Math.max(SMALLEST, Math.floor(size / 2))
    else if (ms < TARGET_MS / 2) size = Math.min(LARGEST, Math.ceil(size * 1.25))
    await sleep(Math.max(1, ms))
  }
  return false
}
