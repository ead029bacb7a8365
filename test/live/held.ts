import type { Storage } from '../../lib/index.ts'
import type { Primitive } from '../../lib/storage/database.ts'

/** Which reads are meant, by their SQL and parameters. */
export type Which = (sql: string, params: Primitive[]) => boolean

/** Reads that are stopped on their way. */
export interface Held {
  /** Resolves once a read has arrived. */
  reached: Promise<void>
  /** Lets it, and all later ones, go on. */
  release(): void
}

/** A storage whose reads outside transactions a test can stop, fail and count, so that it decides the order. */
export interface HeldStorage {
  wrap(storage: Storage): Storage
  /** Stops matching reads: before they look at the database, or when they have looked and not yet told. */
  hold(which: Which, when: 'before' | 'after'): Held
  /** Has matching reads fail. @returns how to end it */
  fail(which: Which, error: Error): () => void
  /** How many matching reads there were. */
  count(which: Which): number
  /** Lets everything go on. */
  reset(): void
}

/** Reads of a conversation's log, from `seq` on if it is given. */
export const readsLog =
  (seq?: number): Which =>
  (sql, params) =>
    /FROM events\s+WHERE conversation_id = \? AND seq > \?/.test(sql) && (seq === undefined || params[1] === seq)

/** Reads of where a log stands. */
export const readsHead: Which = (sql) => sql.includes('min(seq)')

/** Reads of whose sessions are still alive. */
export const readsSessions: Which = (sql) => /FROM sessions\s+WHERE id IN/.test(sql)

/** Reads of memberships. */
export const readsPlaces: Which = (sql) => /FROM participants p JOIN conversations c .*\s+WHERE p\.user_id IN/.test(sql)

/** The look for changes of other processes. */
export const looksForChanges: Which = (sql) => sql === 'change token'

export function holdStorage(): HeldStorage {
  const seen: [string, Primitive[]][] = []
  const rules = new Set<{ which: Which; before?: () => Promise<void>; after?: () => Promise<void>; end(): void }>()

  async function step<T>(sql: string, params: Primitive[], read: () => Promise<T>): Promise<T> {
    seen.push([sql, params])
    const matching = [...rules].filter((rule) => rule.which(sql, params))
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
          all: <T>(sql: string, ...params: Primitive[]) => step(sql, params, () => db.all<T>(sql, ...params)),
          get: <T>(sql: string, ...params: Primitive[]) => step(sql, params, () => db.get<T>(sql, ...params)),
          changeToken: () => step('change token', [], () => db.changeToken()),
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
