import { setTimeout as sleep } from 'node:timers/promises'
import { ChatError } from '../../core/errors.ts'
import type { Database, TransactionOptions, Writing } from '../database.ts'
import type { SqliteConnection } from './connection.ts'
import type { Gate } from './gate.ts'
import type { Reserve, Share } from './reserve.ts'
import { runWork, type TransactionState } from './transaction.ts'

/** What a transaction that frees space may add to the WAL. */
export const STEP_BYTES = 1024 * 1024

/** The first step's share of the rows that a caller deletes at once: each row may change a page of every index. */
const FIRST_SHARE = 1 / 25

const MIN_ROWS = 4

/** A reader of another process may need the WAL for a moment. */
const CHECKPOINT_ATTEMPTS = 20
const CHECKPOINT_PAUSE_MS = 10

/** What a database does with its writers on a full disk. */
export type FullDisk = Required<Pick<Database, 'write' | 'rowsAtOnce' | 'keepReserve'>>

/**
 * Adds the use of the reserve to the writes of a database. On a full disk a writer that frees space gets it, and then runs
 * alone, with checkpoints between: its WAL is written again and again, and never larger than a step.
 */
export function createFullDisk(deps: {
  connection: SqliteConnection
  /** Runs a statement outside any transaction, also of reads. */
  alone: Gate['outside']
  transaction: Gate['transaction']
  write: Database['write']
  reserve: Reserve
  toFailure: (error: unknown) => unknown
}): FullDisk {
  const { connection, alone, transaction, write, reserve, toFailure } = deps
  const checkpoint = createCheckpoint(connection, alone)
  let share = FIRST_SHARE

  async function writeAlone<T>(work: (tx: Writing) => Promise<T>): Promise<T> {
    await checkpoint()
    const state: TransactionState = {}
    try {
      return await transaction('BEGIN IMMEDIATE', () => runWork(connection, state, work))
    } catch (error) {
      throw toFailure(error)
    } finally {
      state.over = true
      const bytes = await checkpoint().catch(() => STEP_BYTES)
      if (bytes > STEP_BYTES / 2) share /= 2
      else if (bytes < STEP_BYTES / 4) share = Math.min(1, share * 1.25)
    }
  }

  async function writeFreeing<T>(
    work: (tx: Writing) => Promise<T>,
    part: Share,
    options: TransactionOptions,
  ): Promise<T> {
    const isAlone = reserve.isUsedUp()
    try {
      return await (isAlone ? writeAlone(work) : write(work, options))
    } catch (error) {
      if (!isFull(error) || reserve.release(part) === 0) throw error
      share = FIRST_SHARE
      return writeAlone(work)
    }
  }

  return {
    async write(work, options = {}) {
      const { full_disk } = options
      if (full_disk === 'refused') {
        if (reserve.isUsedUp()) throw refusal()
        return write(work, options)
      }
      return full_disk ? writeFreeing(work, full_disk, options) : write(work, options)
    },
    rowsAtOnce: (rows) => (reserve.isUsedUp() ? Math.max(MIN_ROWS, Math.floor(rows * share)) : rows),
    keepReserve() {
      reserve.make()
      return reserve.isUsedUp()
    },
  }
}

/**
 * Makes the function that moves the WAL into the file, and has it written from its beginning.
 *
 * @returns the bytes that were in it
 */
function createCheckpoint({ prepare }: SqliteConnection, alone: Gate['outside']): () => Promise<number> {
  const run = () => prepare('PRAGMA wal_checkpoint(RESTART)').get() as { busy: number; log: number }
  const pageBytes = () => (prepare('PRAGMA page_size').get() as { page_size: number }).page_size
  return async () => {
    for (let tries = 1; ; tries++) {
      const { busy, log } = await alone(run)
      if (busy === 0 || tries === CHECKPOINT_ATTEMPTS) return Math.max(0, log) * pageBytes()
      await sleep(CHECKPOINT_PAUSE_MS)
    }
  }
}

const isFull = (error: unknown) => error instanceof ChatError && error.code === 'storage_full'

function refusal(): ChatError {
  const cause = new Error('The disk is full, and its reserve is for what frees space')
  return new ChatError('storage_full', { cause })
}
