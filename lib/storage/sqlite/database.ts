import { setTimeout as sleep } from 'node:timers/promises'
import type { Database, Primitive, Queries, Row } from '../database.ts'
import { isDamage, sqliteTrouble, toStorageFailure } from '../errors.ts'
import { createInFlight } from '../in-flight.ts'
import { createBatches, type Writer } from './batches.ts'
import { BatchAborted, createWriters, type State } from './group-commit.ts'

/** The part of better-sqlite3's `Database` and of node:sqlite's `DatabaseSync` used here. */
export interface SqliteHandle {
  prepare(sql: string): SqliteStatement
  exec(sql: string): unknown
  close(): void
  /** Whether a transaction is open; node:sqlite calls it `isTransaction`, from Node 22.16 on. */
  readonly inTransaction?: boolean
  readonly isTransaction?: boolean
}

export interface SqliteStatement {
  /** node:sqlite does not tell. */
  readonly readonly?: boolean
  all(...params: Primitive[]): unknown[]
  get(...params: Primitive[]): unknown
  run(...params: Primitive[]): { changes: number | bigint }
}

/** How long a write waits for another process that holds the lock. SQLite's own wait would stop the event loop. */
const LOCK_WAIT_MS = 5_000
const LOCK_RETRY_MS = 10

/**
 * How long nothing is done with a file after it was found damaged. Not for ever: SQLite says the same of one that could
 * not be read for a moment (EIO).
 */
const DAMAGE_MS = 3_000

/**
 * Adds transactions and a statement cache to one SQLite connection.
 *
 * A connection has one transaction at a time, so a statement of another request between our BEGIN and COMMIT would
 * join, and roll back with, ours. Hence the gate: whatever is not part of the transaction waits for it. Writers that
 * wait together commit together: one sync of the disk serves them all.
 *
 * @param assertIntact throws when the file is not the one that was opened any more
 */
export function createSqliteDatabase(handle: SqliteHandle, assertIntact: () => void = () => {}): Database {
  const statements = new Map<string, SqliteStatement>()
  const inFlight = createInFlight()
  const batches = createBatches(commit)
  const { direct, runTogether, runApart } = createWriters(prepare, hasTransaction, fail)
  let gate: Promise<void> | undefined
  let sharing: NodeJS.Immediate | undefined
  let damage: { found: unknown; until: number } | undefined

  function prepare(sql: string): SqliteStatement {
    const known = statements.get(sql)
    if (known) return known
    const statement = handle.prepare(sql)
    statements.set(sql, statement)
    return statement
  }

  function hasTransaction(): boolean {
    const known = handle.inTransaction ?? handle.isTransaction
    if (known !== undefined) return known
    try {
      handle.exec('BEGIN')
    } catch {
      return true
    }
    handle.exec('ROLLBACK')
    return false
  }

  /** Has the reads of this turn of the event loop share a transaction: by itself each would lock and unlock the file. */
  function share(): void {
    if (sharing) return
    prepare('BEGIN').run()
    sharing = setImmediate(unshare)
  }

  function unshare(): void {
    if (!sharing) return
    clearImmediate(sharing)
    sharing = undefined
    try {
      if (hasTransaction()) prepare('COMMIT').run()
    } catch (error) {
      // After trouble it fails, too, and is over all the same: the reads have had their answers, and nobody waits here.
      fail(error)
    }
  }

  function read<T>(step: () => T): Promise<T> {
    return outside(() => {
      share()
      return step()
    })
  }

  /** A file that was found damaged is neither read nor written for a while: what it says may be anything. */
  function assertUsable(): void {
    if (damage && performance.now() < damage.until) throw toStorageFailure(damage.found)
    assertIntact()
  }

  function fail(error: unknown): unknown {
    if (isDamage(error)) damage = { found: error, until: performance.now() + DAMAGE_MS }
    return toStorageFailure(error)
  }

  /** Runs `step` once the gate is open, and again while another process has the lock it needs. */
  async function patiently<T>(step: () => T): Promise<T> {
    const deadline = performance.now() + LOCK_WAIT_MS
    for (;;) {
      while (gate) await gate
      try {
        assertUsable()
        return step()
      } catch (error) {
        if (sqliteTrouble(error) !== 'BUSY' || performance.now() >= deadline) throw error
      }
      await sleep(LOCK_RETRY_MS)
    }
  }

  function outside<T>(step: () => T): Promise<T> {
    // Most of the time there is nothing to wait for, and it is done before anything else can happen.
    if (!gate && !inFlight.isClosing()) {
      try {
        assertUsable()
        return Promise.resolve(step())
      } catch (error) {
        if (sqliteTrouble(error) !== 'BUSY') return Promise.reject(fail(error))
      }
    }
    return inFlight.track(async () => {
      try {
        return await patiently(step)
      } catch (error) {
        throw fail(error)
      }
    })
  }

  /** Runs `section` in a transaction, with the gate shut. */
  async function transaction<T>(begin: string, section: () => Promise<T>): Promise<T> {
    let open!: () => void
    await patiently(() => {
      unshare()
      prepare(begin).run()
      // In the same step: a statement that slipped in between would belong to this transaction.
      gate = new Promise<void>((resolve) => (open = resolve))
    })
    try {
      const value = await section()
      prepare('COMMIT').run()
      return value
    } catch (error) {
      if (hasTransaction()) prepare('ROLLBACK').run()
      throw error
    } finally {
      gate = undefined
      open()
    }
  }

  /** Commits the writers that `take` gives, all together, once the lock is there. */
  async function commit(take: () => Writer[], run = runTogether): Promise<void> {
    let batch: Writer[] = []
    try {
      const answers = await transaction('BEGIN IMMEDIATE', () => {
        batch = take()
        return run(batch)
      })
      for (const answer of answers) answer()
    } catch (error) {
      if (error instanceof BatchAborted) return commit(() => batch, runApart)
      const failed = batch.length > 0 ? batch : take()
      for (const writer of failed) writer.reject(fail(error))
    }
  }

  return {
    dialect: 'sqlite',
    all: <T = Row>(sql: string, ...params: Primitive[]) => read(() => prepare(sql).all(...params) as T[]),
    get: <T = Row>(sql: string, ...params: Primitive[]) => read(() => prepare(sql).get(...params) as T | undefined),
    run: (sql, ...params) =>
      outside(() => {
        unshare()
        return Number(prepare(sql).run(...params).changes)
      }),

    write: <T>(work: (tx: Queries) => Promise<T>) =>
      inFlight.track(
        () =>
          new Promise<T>((resolve, reject) => {
            batches.add({ work, resolve: resolve as Writer['resolve'], reject })
          }),
      ),

    snapshot: <T>(work: (db: Queries) => Promise<T>) =>
      inFlight.track(async () => {
        const state: State = {}
        try {
          return await transaction('BEGIN', () => work(direct(state)))
        } catch (error) {
          throw fail(error)
        } finally {
          state.over = true
        }
      }),

    purge: () =>
      outside(() => {
        unshare()
        const result = prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() as { busy: number } | undefined
        return result?.busy !== 1
      }),

    changeToken: () =>
      outside(() => {
        unshare()
        return String((prepare('PRAGMA data_version').get() as Row).data_version)
      }),

    close: () =>
      inFlight.close(() => {
        unshare()
        statements.clear()
        handle.close()
      }),
  }
}
