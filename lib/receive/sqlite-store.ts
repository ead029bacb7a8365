import { ReceiveError } from './receive-error.ts'
import { receiveSchema } from './receive-schema.ts'
import { KEPT_DAYS, type Move, type ReceiveStore } from './receive-store.ts'

/** A prepared statement of better-sqlite3. */
export interface SqliteStatement {
  run(...values: unknown[]): { changes: number | bigint }
  get(...values: unknown[]): unknown
}

/** What the kit needs of a database of better-sqlite3. */
export interface SqliteDatabase {
  prepare(text: string): SqliteStatement
  exec(text: string): unknown
  readonly inTransaction: boolean
}

/** After how many ids some others are looked at, whether they are old. */
const IDS_PER_PRUNING = 1000

/** How many are looked at: twice as many as come, so that all of the table is passed again and again. */
const WINDOW = 2 * IDS_PER_PRUNING

/** An id in the table. */
interface Place {
  source: string
  id: string
}

const STATEMENTS = {
  insert: 'INSERT INTO chat_received (source, id) SELECT ?, value FROM json_each(?) WHERE 1 ON CONFLICT DO NOTHING',
  positions: 'SELECT pulled, pushed FROM chat_receive_positions WHERE source = ?',
  create: 'INSERT INTO chat_receive_positions (source) VALUES (?) ON CONFLICT DO NOTHING',
  pulled: 'UPDATE chat_receive_positions SET pulled = ? WHERE source = ? AND pulled IS ?',
  pushed: 'UPDATE chat_receive_positions SET pushed = ? WHERE source = ?',
  forget: 'DELETE FROM chat_received WHERE source = ? AND at >= ?',
  restart: 'UPDATE chat_receive_positions SET pulled = ? WHERE source = ?',
  last: `SELECT source, id FROM chat_received WHERE (source, id) > (?, ?) ORDER BY source, id LIMIT 1 OFFSET ${WINDOW - 1}`,
  prune: `DELETE FROM chat_received WHERE (source, id) IN (
  SELECT source, id FROM (SELECT * FROM chat_received WHERE (source, id) > (?, ?) ORDER BY source, id LIMIT ${WINDOW})
  WHERE at < unixepoch() - ${KEPT_DAYS} * 86400)`,
}

type Statements = Record<keyof typeof STATEMENTS, SqliteStatement>

/** Keeps what was received in SQLite, by a database of better-sqlite3. Effects get the database, and are synchronous. */
export function sqliteStore<Database extends SqliteDatabase>(db: Database): ReceiveStore<Database> {
  if (typeof db?.prepare !== 'function')
    throw new ReceiveError(
      'malformed',
      "sqliteStore: pass a database of better-sqlite3: sqliteStore(new Database('…'))",
    )
  let statements: Statements | undefined
  let due = 0
  let from: Place | undefined

  /** Prepared at the first use: before `migrate` the tables do not exist. */
  function prepared(): Statements {
    const entries = () => Object.entries(STATEMENTS).map(([name, text]) => [name, db.prepare(text)])
    statements ??= Object.fromEntries(entries()) as Statements
    return statements
  }

  /**
   * Deletes what is old of the next ids in the table; behind the last it begins again. A process begins with the first ids of the source
   * that it receives from, which are the oldest of it: many processes do not live until the window comes to a later source.
   */
  function prune(is: Statements, current: string, added: number): void {
    due -= added
    if (due > 0) return
    due = IDS_PER_PRUNING
    from ??= { source: current, id: '' }
    const { source, id } = from
    from = (is.last.get(source, id) as Place | undefined) ?? { source: '', id: '' }
    is.prune.run(source, id)
  }

  /** @param work returns whether to commit */
  function inTransaction(work: (is: Statements) => boolean): void {
    if (db.inTransaction) throw new ReceiveError('not_atomic', 'The database has a transaction open')
    const is = prepared()
    // IMMEDIATE: a transaction that begins by reading, and writes later, can be refused in the middle.
    db.exec('BEGIN IMMEDIATE')
    try {
      const commits = work(is)
      if (!db.inTransaction) throw new ReceiveError('not_atomic', 'The effect has ended the transaction of the kit')
      db.exec(commits ? 'COMMIT' : 'ROLLBACK')
    } catch (error) {
      if (db.inTransaction) db.exec('ROLLBACK')
      throw error
    }
  }

  return {
    async migrate() {
      db.exec(receiveSchema('sqlite'))
    },
    async positions(source) {
      const { pulled, pushed } = (prepared().positions.get(source) ?? {}) as { pulled?: string; pushed?: string }
      return { ...(pulled && { pulled }), ...(pushed && { pushed }) }
    },
    async apply({ source, ids, run, move }) {
      let applied: number | undefined
      inTransaction((is) => {
        prune(is, source, ids.length)
        if (move && !moveCursor(is, source, move)) return false
        applied = 0
        const insert = (some: readonly string[]) =>
          Number(is.insert.run(source, JSON.stringify(some)).changes) === some.length
        // One statement takes half of the time; where it does not insert all, each is tried by itself.
        db.exec('SAVEPOINT id')
        const areNew = insert(ids)
        if (!areNew) db.exec('ROLLBACK TO id')
        for (const id of ids) {
          if (!areNew && !insert([id])) continue
          assertSynchronous(run(db, id))
          applied++
        }
        return true
      })
      return applied
    },
    async forget(source, { since, position }) {
      inTransaction((is) => {
        is.forget.run(source, Math.floor(since.getTime() / 1000))
        if (position === undefined) return true
        is.create.run(source)
        is.restart.run(position, source)
        return true
      })
    },
  }
}

function moveCursor(is: Statements, source: string, move: Move): boolean {
  is.create.run(source)
  if (move.cursor === 'pushed') return is.pushed.run(move.to, source).changes !== 0
  return Number(is.pulled.run(move.to, source, move.from).changes) > 0
}

/** The transaction ends before a promise could: what it does would be outside, and its failure would undo nothing. */
function assertSynchronous(returned: unknown): void {
  if (typeof (returned as PromiseLike<unknown> | undefined)?.then !== 'function') return
  // Its own failure is not reported: this one comes first.
  Promise.resolve(returned).catch(() => {})
  throw new ReceiveError(
    'not_atomic',
    'The effect returned a promise: with better-sqlite3 effects are synchronous. Remove "async"; for calls insert a row with event.id',
  )
}
