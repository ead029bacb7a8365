import type { Primitive, Queries } from '../database.ts'
import type { Writer } from './batches.ts'
import type { SqliteStatement } from './database.ts'

/** A transaction from the inside: `over` once it has ended, `lost` to the trouble that ended it early. */
export interface State {
  over?: boolean
  lost?: unknown
  /** Whether a statement ran that may have changed something. */
  wrote?: boolean
}

/** Aborts a batch in which a writer failed after it had changed something: the other writers run again without it. */
export class BatchAborted extends Error {}

/**
 * How writers run inside a transaction of SQLite.
 *
 * @param hasTransaction whether one is open: trouble such as a full disk may have ended it
 * @param toFailure what a writer is told of an error
 */
export function createWriters(
  prepare: (sql: string) => SqliteStatement,
  hasTransaction: () => boolean,
  toFailure: (error: unknown) => unknown,
) {
  /** Statements run at once. After trouble that ended the transaction, nothing more runs in it. */
  function direct(state: State): Queries {
    const guarded = <T>(step: () => T): T => {
      if (state.lost) throw state.lost
      if (state.over) throw new Error('The transaction is over: await each tx call inside write()')
      try {
        return step()
      } catch (error) {
        if (!hasTransaction()) state.lost = error
        throw error
      }
    }
    const noted = (sql: string): SqliteStatement => {
      const statement = prepare(sql)
      if (!statement.readonly) state.wrote = true
      return statement
    }
    return {
      dialect: 'sqlite',
      all: async <T>(sql: string, ...params: Primitive[]) => guarded(() => noted(sql).all(...params) as T[]),
      get: async <T>(sql: string, ...params: Primitive[]) => guarded(() => noted(sql).get(...params) as T | undefined),
      run: async (sql, ...params) => guarded(() => Number(noted(sql).run(...params).changes)),
    }
  }

  /**
   * Runs writers one after another, with nothing between them.
   *
   * @returns how to answer them, once the batch is committed
   * @throws BatchAborted when one has failed that cannot be undone without the others
   */
  async function runTogether(writers: Writer[]): Promise<(() => void)[]> {
    const answers: (() => void)[] = []
    for (const writer of writers) {
      const state: State = {}
      try {
        const value = await writer.work(direct(state))
        if (state.lost) throw state.lost
        answers.push(() => writer.resolve(value))
      } catch (error) {
        if (!hasTransaction()) throw state.lost ?? error
        if (state.wrote) throw writers.length > 1 ? new BatchAborted() : error
        answers.push(() => writer.reject(toFailure(error)))
      } finally {
        state.over = true
      }
    }
    return answers
  }

  /** The same with a savepoint each, to undo one alone. SQLite then copies every page that a writer is first to touch. */
  async function runApart(writers: Writer[]): Promise<(() => void)[]> {
    const answers: (() => void)[] = []
    for (const writer of writers) answers.push(await runInSavepoint(writer))
    return answers
  }

  async function runInSavepoint(writer: Writer): Promise<() => void> {
    const state: State = {}
    prepare('SAVEPOINT writer').run()
    try {
      const value = await writer.work(direct(state))
      prepare('RELEASE writer').run()
      return () => writer.resolve(value)
    } catch (error) {
      // A full disk rolls back everything: another SAVEPOINT would then open, and RELEASE commit, a transaction of its own.
      if (!hasTransaction()) throw state.lost ?? error
      prepare('ROLLBACK TO writer').run()
      prepare('RELEASE writer').run()
      return () => writer.reject(toFailure(error))
    } finally {
      state.over = true
    }
  }

  return { direct, runTogether, runApart }
}
