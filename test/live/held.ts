import type { Storage } from '../../lib/index.ts'
import type { Primitive } from '../../lib/storage/database.ts'
import type { Sql } from '../../lib/storage/sql.ts'

/** Selects reads by their SQL and parameters. */
export type Which = (sql: string, params: readonly Primitive[]) => boolean

/** Reads that are held. */
export interface Held {
  /** Resolves once a read has arrived. */
  reached: Promise<void>
  /** Lets it, and all later ones, continue. */
  release(): void
}

/** A storage whose reads outside transactions a test can stop, fail and count, so that it decides the order. */
export interface HeldStorage {
  wrap(storage: Storage): Storage
  /** Holds matching reads: before they run, or after they have run and before they return. */
  hold(which: Which, when: 'before' | 'after'): Held
  /** Makes matching reads fail. @returns a function that ends that */
  fail(which: Which, error: Error): () => void
  /** The number of matching reads. */
  count(which: Which): number
  /** Lets all reads continue. */
  reset(): void
}

/** Reads of a conversation's log, from `seq` on if it is given. */
export const readsLog =
  (seq?: number): Which =>
  (sql, params) =>
    /FROM events\s+WHERE conversation_id = \? AND seq > \?/.test(sql) && (seq === undefined || params[1] === seq)

/** Reads of the end of a log. */
export const readsHead: Which = (sql) => sql.includes('min(seq)')

/** Reads of live sessions. */
export const readsSessions: Which = (sql) => /FROM sessions\s+WHERE id (IN|= ANY)/.test(sql)

/** Reads of memberships. */
export const readsPlaces: Which = (sql) =>
  /FROM participants p JOIN conversations c .*\s+WHERE p\.user_id (IN|= ANY)/.test(sql)

/** The check for changes of other processes. */
export const looksForChanges: Which = (sql) => sql === 'change token' || sql.includes('pg_current_snapshot()')

export function holdStorage(): HeldStorage {
  const seen: [string, readonly Primitive[]][] = []
  const rules = new Set<{ which: Which; before?: () => Promise<void>; after?: () => Promise<void>; end(): void }>()

  async function step<T>({ text, params }: Pick<Sql, 'text' | 'params'>, read: () => Promise<T>): Promise<T> {
    seen.push([text, params])
    const matching = [...rules].filter((rule) => rule.which(text, params))
    for (const rule of matching) await rule.before?.()
    const value = await read()
    for (const rule of matching) await rule.after?.()
    return value
  }

  return {
    wrap: (storage) => {
      const { db } = storage
      return {
        ...storage,
        db: {
          ...db,
          all: <T>(sql: Sql) => step(sql, () => db.all<T>(sql)),
          get: <T>(sql: Sql) => step(sql, () => db.get<T>(sql)),
          changeToken: () => step({ text: 'change token', params: [] }, () => db.changeToken()),
        },
      }
    },
    hold(which, when) {
      let arrived = () => {}
      let release = () => {}
      const reached = new Promise<void>((resolve) => (arrived = resolve))
      const released = new Promise<void>((resolve) => (release = resolve))
      const rule = {
        which,
        [when]: () => {
          arrived()
          return released
        },
        end() {
          rules.delete(rule)
          release()
        },
      }
      rules.add(rule)
      return { reached, release: rule.end }
    },
    fail(which, error) {
      const rule = { which, before: () => Promise.reject(error), end: () => void rules.delete(rule) }
      rules.add(rule)
      return rule.end
    },
    reset() {
      for (const rule of rules) rule.end()
    },
    count: (which) => seen.filter(([sql, params]) => which(sql, params)).length,
  }
}
