import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { ChatError } from '../errors.ts'
import type { Database, Primitive, Queries, Row } from './database.ts'
import { sqliteTrouble, toStorageFailure } from './failures.ts'

/** The part of better-sqlite3's `Database` and of node:sqlite's `DatabaseSync` used here. */
export interface SqliteHandle {
  prepare(sql: string): SqliteStatement
  exec(sql: string): unknown
  close(): void
  /** Whether a transaction is open; node:sqlite calls it `isTransaction`. */
  readonly inTransaction?: boolean
  readonly isTransaction?: boolean
}

interface SqliteStatement {
  all(...params: Primitive[]): unknown[]
  get(...params: Primitive[]): unknown
  run(...params: Primitive[]): { changes: number | bigint }
}

interface Writer {
  work: (tx: Queries) => Promise<unknown>
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}

/** How long a write waits for another process that holds the lock. SQLite's own wait would stop the event loop. */
const LOCK_WAIT_MS = 5_000
const LOCK_RETRY_MS = 10

/** How many writers share a commit at most, so that a burst does not hold the event loop for long. */
const MAX_BATCH = 256

/**
 * Adds transactions and a statement cache to one SQLite connection.
 *
 * A connection has one transaction at a time, so a statement of another request between our BEGIN and COMMIT would
 * join, and roll back with, ours. Hence the gate: whatever is not part of the transaction waits for it. Writers that
 * wait together commit together, a savepoint each: one sync of the disk serves them all.
 *
 * @param options.strict throw when a transaction uses the outer database, which would wait for itself; for tests
 */
export function createSqliteDatabase(handle: SqliteHandle, options: { strict?: boolean } = {}): Database {
  const statements = new Map<string, SqliteStatement>()
  const inside = options.strict ? new AsyncLocalStorage<true>() : undefined
  const waiting: Writer[] = []
  let flushing: Promise<void> | undefined
  let gate: Promise<void> | undefined
  let closed = false

  function prepare(sql: string): SqliteStatement {
    const statement = statements.get(sql) ?? handle.prepare(sql)
    statements.set(sql, statement)
    return statement
  }

  const hasTransaction = () => handle.inTransaction ?? handle.isTransaction ?? true

  /** Statements run at once. After trouble that ended the transaction, nothing more runs in it. */
  function direct(state: { over?: boolean }): Queries {
    const guarded = <T>(step: () => T): T => {
      if (state.over) throw new Error('The transaction is over: await each tx call inside write()')
      try {
        return step()
      } catch (error) {
        if (!hasTransaction()) state.over = true
        throw error
      }
    }
    return {
      dialect: 'sqlite',
      all: async <T>(sql: string, ...params: Primitive[]) => guarded(() => prepare(sql).all(...params) as T[]),
      get: async <T>(sql: string, ...params: Primitive[]) =>
        guarded(() => prepare(sql).get(...params) as T | undefined),
      run: async (sql, ...params) => guarded(() => Number(prepare(sql).run(...params).changes)),
    }
  }

  async function outside<T>(step: () => T): Promise<T> {
    if (inside?.getStore()) throw new Error('A transaction used the outer database: use its tx')
    while (gate) await gate
    if (closed) throw new ChatError('unavailable', { message: 'The storage is closed.' })
    try {
      return step()
    } catch (error) {
      throw toStorageFailure(error)
    }
  }

  /** Shuts the gate while `section` runs. Called only when it is open. */
  async function exclusively<T>(section: () => Promise<T>): Promise<T> {
    let open!: () => void
    gate = new Promise<void>((resolve) => (open = resolve))
    try {
      return await section()
    } finally {
      gate = undefined
      open()
    }
  }

  /** Takes the write lock, waiting for other processes without holding up the event loop, and runs `section` under it. */
  async function locked(section: () => Promise<void>): Promise<void> {
    for (let waited = 0; ; waited += LOCK_RETRY_MS) {
      while (gate) await gate
      try {
        prepare('BEGIN IMMEDIATE').run()
      } catch (error) {
        if (sqliteTrouble(error) !== 'BUSY' || waited >= LOCK_WAIT_MS) throw error
        await sleep(LOCK_RETRY_MS)
        continue
      }
      // No await since BEGIN: a statement that slipped in between would belong to this transaction.
      return exclusively(section)
    }
  }

  /** Runs one writer in a savepoint. @returns how to answer it, once the batch is committed. */
  async function runWriter(writer: Writer): Promise<() => void> {
    const state: { over?: boolean } = {}
    prepare('SAVEPOINT writer').run()
    try {
      const run = () => writer.work(direct(state))
      const value = await (inside ? inside.run(true, run) : run())
      if (state.over) throw new Error('The transaction ended early')
      prepare('RELEASE writer').run()
      return () => writer.resolve(value)
    } catch (error) {
      // A full disk rolls back everything: another SAVEPOINT would then open, and RELEASE commit, a transaction of its own.
      if (!hasTransaction()) throw error
      prepare('ROLLBACK TO writer').run()
      prepare('RELEASE writer').run()
      return () => writer.reject(toStorageFailure(error))
    } finally {
      state.over = true
    }
  }

  async function flush(): Promise<void> {
    const batch: Writer[] = []
    const answers: (() => void)[] = []
    try {
      await locked(async () => {
        try {
          for (const writer of waiting.splice(0, MAX_BATCH)) batch.push(writer)
          for (const writer of batch) answers.push(await runWriter(writer))
          prepare('COMMIT').run()
        } catch (error) {
          if (hasTransaction()) prepare('ROLLBACK').run()
          throw error
        }
      })
      for (const answer of answers) answer()
    } catch (error) {
      const failed = batch.length > 0 ? batch : waiting.splice(0)
      for (const writer of failed) writer.reject(toStorageFailure(error))
    }
  }

  function scheduleFlush(): void {
    // By setImmediate, so that all requests read in this turn of the event loop share the commit.
    flushing ??= new Promise<void>((resolve) => setImmediate(resolve)).then(flush).finally(() => {
      flushing = undefined
      if (waiting.length > 0) scheduleFlush()
    })
  }

  return {
    dialect: 'sqlite',
    all: <T = Row>(sql: string, ...params: Primitive[]) => outside(() => prepare(sql).all(...params) as T[]),
    get: <T = Row>(sql: string, ...params: Primitive[]) => outside(() => prepare(sql).get(...params) as T | undefined),
    run: (sql, ...params) => outside(() => Number(prepare(sql).run(...params).changes)),

    write<T>(work: (tx: Queries) => Promise<T>) {
      return new Promise<T>((resolve, reject) => {
        if (closed) return reject(new ChatError('unavailable', { message: 'The storage is closed.' }))
        if (inside?.getStore()) return reject(new Error('A transaction opened another one: use its tx'))
        waiting.push({ work, resolve: resolve as Writer['resolve'], reject })
        scheduleFlush()
      })
    },

    async snapshot<T>(work: (db: Queries) => Promise<T>) {
      await outside(() => {})
      while (gate) await gate
      return exclusively(async () => {
        const state: { over?: boolean } = {}
        try {
          prepare('BEGIN').run()
          const run = () => work(direct(state))
          const value = await (inside ? inside.run(true, run) : run())
          prepare('COMMIT').run()
          return value
        } catch (error) {
          if (hasTransaction()) prepare('ROLLBACK').run()
          throw toStorageFailure(error)
        } finally {
          state.over = true
        }
      })
    },

    changeToken: () => outside(() => String((prepare('PRAGMA data_version').get() as Row).data_version)),

    async close() {
      while (flushing) await flushing
      while (gate) await gate
      if (closed) return
      closed = true
      statements.clear()
      handle.close()
    },
  }
}
