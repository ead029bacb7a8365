import type { Primitive, Row } from '../database.ts'
import type { SqliteConnection } from './connection.ts'
import type { SharedReads } from './shared-reads.ts'

/** The maximum number of rows kept per statement, some hundred bytes each. */
const MAX_ROWS = 5_000

/** Rows that were read before, for as long as the database is the same. */
export interface KeptRows {
  /** The row of a statement with one parameter. It is frozen: other callers get the same one. */
  find(sql: string, param: Primitive): Row | undefined
}

/**
 * Keeps rows that many calls read again and again. Any commit, of this connection or another one, removes all of them.
 *
 * Each shared read transaction first compares what SQLite counts: `data_version` changes with the commits of all other
 * connections, `total_changes` with the rows that this one changes. Both are read in the transaction itself, so a kept row
 * is what the statement would return in it. Nothing is written while it is open.
 */
export function createKeptRows({ prepare }: SqliteConnection, sharedReads: SharedReads): KeptRows {
  const rowsOf = new Map<string, Map<Primitive, Row>>()
  let state = { others: -1, own: -1 }
  let checked: number | undefined

  function check(): void {
    const current = sharedReads.begin()
    if (current === checked) return
    const { data_version: others } = prepare('PRAGMA data_version').get() as { data_version: number }
    const { own } = prepare('SELECT total_changes() AS own').get() as { own: number }
    if (others !== state.others || own !== state.own) rowsOf.clear()
    state = { others, own }
    checked = current
  }

  return {
    find(sql, param) {
      check()
      const rows = rowsOf.get(sql) ?? new Map<Primitive, Row>()
      const kept = rows.get(param)
      if (kept) return kept
      const found = prepare(sql).get(param) as Row | undefined
      // A missing row is not kept: callers can invent any number of tokens.
      if (!found) return undefined
      if (rows.size >= MAX_ROWS) rows.clear()
      // A copy: the objects of better-sqlite3 are dictionaries to V8, which are slow to read.
      const row = Object.freeze({ ...found })
      rows.set(param, row)
      rowsOf.set(sql, rows)
      return row
    },
  }
}
