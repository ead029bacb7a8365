import { randomFillSync } from 'node:crypto'
import { closeSync, fsyncSync, openSync, renameSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs'
import { MIB } from '../../core/units.ts'
import { readDisk } from '../space.ts'
import { toTemporaryPath } from '../temporary.ts'

/** Room for the steps of a deletion: about a MiB of WAL each, and what the checkpoint in between adds to the file. */
export const RESERVE_BYTES = 8 * MIB

/** What a new reserve leaves free: a disk with less has no room to give away. */
const LEFT_FREE_BYTES = 64 * MIB

/** With less space the rest of a used reserve is for what frees space. */
const TIGHT_BYTES = 16 * MIB

/** The part of the reserve that a caller may use: a user must not take from the operator what is left. */
export type Share = 'half' | 'whole'

/**
 * A file beside a SQLite file that is given up when the disk is full, so that what frees space has some to work with. A
 * used one stays, shorter or empty: so every process knows, and tells it from a disk that never had one.
 */
export interface Reserve {
  /** Whether it was used, and the disk is still nearly full. */
  isUsedUp(): boolean
  /** Gives up this part of it. @returns the freed bytes; 0 if they were given up before, or there is no reserve */
  release(share: Share): number
  /** Makes it, if it is missing or was used, and enough space stays free. */
  make(): void
}

/** The reserve of the SQLite file at this path. */
export function createReserve(database: string): Reserve {
  const path = `${database}-reserve`
  const size = () => statSync(path, { throwIfNoEntry: false })?.size
  const free = () => readDisk(database).free
  return {
    isUsedUp() {
      const bytes = size()
      return bytes !== undefined && bytes < RESERVE_BYTES && free() < TIGHT_BYTES
    },
    release(share) {
      const left = share === 'half' ? RESERVE_BYTES / 2 : 0
      const bytes = size() ?? 0
      if (bytes <= left) return 0
      truncateSync(path, left)
      return bytes - left
    },
    make() {
      const bytes = size() ?? 0
      if (bytes < RESERVE_BYTES && free() + bytes >= RESERVE_BYTES + LEFT_FREE_BYTES) writeReserve(path)
    },
  }
}

/** Random: a file system that compresses would keep no space for zeros. */
function writeReserve(path: string): void {
  // Another process may be making it: the one that is renamed last stays.
  const unfinished = toTemporaryPath(path)
  try {
    const handle = openSync(unfinished, 'w', 0o600)
    try {
      const piece = Buffer.alloc(MIB)
      for (let written = 0; written < RESERVE_BYTES; written += MIB) writeSync(handle, randomFillSync(piece))
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
    renameSync(unfinished, path)
  } catch (error) {
    rmSync(unfinished, { force: true })
    throw error
  }
}
