import type { Queries } from '../../storage/database.ts'
import { type Sql, sql } from '../../storage/sql.ts'

/** A statement, or a function that runs some. */
export type Repair = Sql | ((tx: Queries) => Promise<void>)

/** A condition that holds in every consistent database, also after a crash of its processes. */
export interface Invariant {
  name: string
  /** The condition, as a sentence. */
  says: string
  /** Finds the ids of the violations. */
  find: Sql
  /** `find` as a condition on a message `m`, so that one scan finds the violations of several invariants. */
  where?: Sql
  /** Takes long on SQLite: of a large file, it is checked beside the others. `find` has no values. */
  apart?: true
  /** What to do about a violation that `repair` does not correct. */
  remedy?: string
  /** Restores the condition, where only a count, or a copy of rows, is wrong. */
  repair?: Repair
  /** A violation is not an error, but worth reporting. */
  note?: true
}

/** The violations are the messages `m` of which a condition is true. */
export function messagesWhere(where: Sql): Pick<Invariant, 'find' | 'where'> {
  return { where, find: sql`SELECT m.id FROM messages m WHERE ${where}` }
}
