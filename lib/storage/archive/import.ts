import { newId } from '../../core/ids.ts'
import { stopCopiedAnswers } from '../copied-answers.ts'
import type { Database, Filling, Queries, Row } from '../database.ts'
import { disableRestored } from '../disabled-webhooks.ts'
import { beginHistory, parseHistories } from '../histories.ts'
import { findTooLong } from '../lengths.ts'
import { RECOUNT_MESSAGES } from '../schema/0012-unread-totals.ts'
import { FIND_ACTIVITY } from '../schema/0019-people.ts'
import { CORRECT_SIZES } from '../schema/0027-blob-sizes.ts'
import { RECOUNT_PARTICIPANTS } from '../schema/0029-participant-counts.ts'
import { FILL_FORMER } from '../schema/0052-names.ts'
import { RECOUNT_MENTIONS } from '../schema/0056-notification-scopes.ts'
import { assertExact } from '../schema/migrate.ts'
import { MIGRATIONS } from '../schema/migrations.ts'
import { join, name, sql, statement } from '../sql.ts'
import { findForeignValue } from '../stored-values.ts'
import { RECOUNT_SEEN } from '../unread-set.ts'
import type { CopyOptions } from './copied.ts'
import { type Counts, type Header, type Line, PAGE, type Progress, TABLES, VERSION } from './format.ts'
import { NOT_WHOLE, readArchive } from './read.ts'

/**
 * Fills an empty database of the current schema from an archive. The events start a new history: clients read everything
 * again.
 *
 * On PostgreSQL it is one transaction: an import that fails leaves an empty database. On SQLite a second import of the
 * same archive continues after an interruption.
 *
 * @throws Error when the database is not empty; when the file is not an archive, is newer than this program, or is
 *   incomplete; when a row has a text that is longer than the service allows, or a value that it never writes: then the
 *   database is empty again
 */
export async function importArchive(
  db: Database,
  lines: AsyncIterable<string>,
  onProgress: Progress = () => {},
  { enable_webhooks = false }: CopyOptions = {},
): Promise<Counts> {
  const settle: Settle = async (tx) => {
    await stopCopiedAnswers(tx)
    if (!enable_webhooks) await disableRestored(tx)
  }
  const archive = readArchive(lines)
  const { value: header } = await archive.next()
  if (!header) throw new Error(NOT_WHOLE)
  await begin(db, header as Header)
  if (!db.fill) return fill(archive, await inBatches(db), { onProgress, settle })
  try {
    return await db.fill(async (tx) => {
      // An earlier version of this program may have been interrupted.
      await deleteAll(tx)
      return fill(archive, await inOneTransaction(tx), { onProgress, settle })
    })
  } catch (error) {
    // Fails with the database, and then the next import replaces it.
    await db.run(DELETE_MARK).catch(() => {})
    throw error
  }
}

/** The row that an import leaves until it is complete, with the id of the archive. */
const MARK = sql`SELECT value FROM meta WHERE name = 'import'`
const DELETE_MARK = sql`DELETE FROM meta WHERE name = 'import'`

/** How rows get into a database. */
interface Filler {
  db: Queries
  write: <T>(work: (tx: Queries) => Promise<T>) => Promise<T>
  insert(table: string, rows: Row[]): Promise<void>
  /** Leaves nothing of the import. */
  undo(): Promise<void>
}

/** Rows of one table, with the same columns. */
interface Batch {
  table: string
  columns: string
  rows: Row[]
  /** The length of their lines. */
  size: number
}

/** The number of characters of rows that are inserted at a time. */
const BATCH_SIZE = 4 * 1024 * 1024

/** Ends, in an imported database, what the service that it is of does as well. */
type Settle = (tx: Queries) => Promise<void>

async function fill(
  archive: AsyncIterable<Line>,
  filler: Filler,
  { onProgress, settle }: { onProgress: Progress; settle: Settle },
): Promise<Counts> {
  const counts: Counts = {}
  let batch: Batch | undefined
  const flush = async () => {
    if (!batch) return
    const { table, rows } = batch
    batch = undefined
    await filler.insert(table, rows)
    counts[table] = (counts[table] ?? 0) + rows.length
    onProgress(table, counts[table])
  }
  let number = 1
  for await (const line of archive) {
    number++
    if ('end' in line) {
      await flush()
      return finish(filler, line.counts, settle)
    }
    if (!('table' in line)) continue
    const { table } = line
    const row = upgradeRow(table, line.row)
    const wrong = findTooLong(table, row) ?? findForeignValue(table, row)
    if (wrong) {
      await filler.undo()
      throw new Error(`Nothing was imported: in line ${number} of the archive, ${wrong}${keyOf(table, row)}`)
    }
    const columns = Object.keys(row).join()
    if (batch?.table !== table || batch.columns !== columns || batch.rows.length === PAGE || batch.size > BATCH_SIZE) {
      await flush()
      batch = { table, columns, rows: [], size: 0 }
    }
    batch.rows.push(row)
    batch.size += sizeOf(row)
  }
  throw new Error(NOT_WHOLE)
}

/** The primary key of a row, to be found in the service that the archive is of. */
function keyOf(table: string, row: Row): string {
  const names = TABLES.find(([name]) => name === table)?.slice(1) ?? []
  return names.length === 0 ? '' : ` (${names.map((name) => `${name} ${String(row[name]).slice(0, 60)}`).join(', ')})`
}

function sizeOf(row: Row): number {
  return Object.values(row).reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 8), 0)
}

/** Checks that the archive is readable and the database has no other data, and stores the id of the archive. */
async function begin(db: Database, header: Header): Promise<void> {
  if (header.chat_server_archive !== VERSION) throw new Error('This is not an archive that this program can read')
  await assertExact(db)
  const names = MIGRATIONS.map(({ name }) => name)
  if (header.conversation !== undefined) throw new Error(ONE_CONVERSATION)
  const unknown = header.migrations.find((name) => !names.includes(name))
  if (unknown) throw new Error(`The archive (${unknown}) is newer than this program: install the newer version`)
  await db.write(async (tx) => {
    const before = await tx.get<{ value: string }>(MARK)
    if (before?.value === header.id) return
    for (const [table] of TABLES) {
      if (await tx.get(sql`SELECT 1 AS found FROM ${name(table)} LIMIT 1`)) throw new Error('The database is not empty')
    }
    // The next start fills the index of the search. The files are those of the archive.
    await tx.run(sql`DELETE FROM meta WHERE name IN ('search', 'storage', 'event_histories')`)
    if (typeof header.storage === 'string')
      await tx.run(sql`INSERT INTO meta (name, value) VALUES ('storage', ${header.storage})`)
    const histories = parseHistories(JSON.stringify(header.event_histories ?? []))
    if (histories.length > 0)
      await tx.run(sql`INSERT INTO meta (name, value) VALUES ('event_histories', ${JSON.stringify(histories)})`)
    await tx.run(
      sql`INSERT INTO meta (name, value) VALUES ('import', ${header.id})
        ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    )
  })
}

/** Deletes the imported rows: the database was empty when the import began. */
async function deleteAll(tx: Queries): Promise<void> {
  for (const [table] of TABLES.toReversed()) await tx.run(sql`DELETE FROM ${name(table)}`)
}

const ONE_CONVERSATION = 'The archive has one conversation: "chat-server conversation import" brings it back'

export const INTERRUPTED =
  'An import into this database was interrupted: run "chat-server import" again with its archive'

/** @throws Error when an interrupted import has filled only a part of the database */
export async function assertImported(db: Queries): Promise<void> {
  if (await db.get(MARK)) throw new Error(INTERRUPTED)
}

/** A transaction for each batch; rows that exist are skipped. */
async function inBatches(db: Database): Promise<Filler> {
  const assertKnown = await knownColumns(db)
  return {
    db,
    write: (work) => db.write(work, { timeout: false }),
    insert: (table, rows) =>
      db.write(async (tx) => {
        assertKnown(table, rows[0]!)
        const names = Object.keys(rows[0]!)
        const places = names.map(() => '?').join(', ')
        const text = `INSERT INTO ${table} (${names.join(', ')}) VALUES (${places}) ON CONFLICT DO NOTHING`
        for (const row of rows) await tx.run(statement(text, Object.values(row)))
      }),
    undo: () =>
      db.write(async (tx) => {
        await deleteAll(tx)
        await tx.run(DELETE_MARK)
      }),
  }
}

/** One transaction for all; an error ends it. */
async function inOneTransaction(tx: Filling): Promise<Filler> {
  const assertKnown = await knownColumns(tx)
  return {
    db: tx,
    write: (work) => work(tx),
    async insert(table, rows) {
      assertKnown(table, rows[0]!)
      await tx.insert(table, rows)
    },
    undo: async () => {},
  }
}

/** @returns a function that throws for a row with a table or column that the database lacks */
export async function knownColumns(db: Queries): Promise<(table: string, row: Row) => void> {
  const columns = new Map<string, Set<string>>()
  for (const [table] of TABLES) columns.set(table, await listColumns(db, table))
  return (table, row) => {
    const known = columns.get(table)
    const names = Object.keys(row)
    if (!known || names.length === 0 || names.some((name) => !known.has(name)))
      throw new Error(`The archive has an unknown ${table}`)
  }
}

/** Fills in columns of an older archive whose default would be wrong there. */
function upgradeRow(table: string, row: Row): Row {
  // Older than the column: such accounts count as verified, as after a migration.
  if (table !== 'users' || 'email_verified_at' in row) return row
  return { ...row, email_verified_at: row.created_at! }
}

async function listColumns(db: Queries, table: string): Promise<Set<string>> {
  const shown = db.names?.inCatalog(table) ?? table
  const rows = await db.all<{ name: string }>(
    db.dialect === 'sqlite'
      ? sql`SELECT name FROM pragma_table_info(${shown})`
      : sql`SELECT column_name AS name FROM information_schema.columns
             WHERE table_name = ${shown} AND table_schema = current_schema()`,
  )
  return new Set(rows.map(({ name }) => name))
}

/** Checks the counts, sets the sequences to the imported maximum, and starts a new event history. */
async function finish({ db, write }: Filler, expected: Counts, settle: Settle): Promise<Counts> {
  const counts: Counts = {}
  for (const [table] of TABLES) {
    counts[table] = (await db.get<{ total: number }>(sql`SELECT count(*) AS total FROM ${name(table)}`))!.total
    // An older archive does not have this table.
    const should = expected[table] ?? 0
    if (counts[table] !== should) throw new Error(`There are ${counts[table]} ${table}, and should be ${should}`)
  }
  await write(async (tx) => {
    if (tx.dialect === 'postgresql')
      await tx.get(
        sql`SELECT setval(pg_get_serial_sequence('events', 'id'), (SELECT coalesce(max(id), 0) + 1 FROM events), false)`,
      )
    // The plans of what follows depend on the sizes.
    if (tx.dialect === 'postgresql')
      await tx.run(
        sql`ANALYZE ${join(
          TABLES.map(([table]) => name(table)),
          ', ',
        )}`,
      )
    // An older archive has no such counts, no last activity and no former participants, and no archive has the messages
    // that an erasure was removing, nor the size of all blobs.
    const all = [
      RECOUNT_MESSAGES,
      RECOUNT_SEEN,
      FIND_ACTIVITY,
      RECOUNT_MENTIONS,
      CORRECT_SIZES,
      RECOUNT_PARTICIPANTS,
      FILL_FORMER,
    ]
    for (const recount of all) await tx.run(recount)
    await settle(tx)
    await tx.run(sql`UPDATE meta SET value = ${newId()} WHERE name = 'epoch'`)
    await beginHistory(tx)
    await tx.run(DELETE_MARK)
  })
  return counts
}
