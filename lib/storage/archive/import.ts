import { newId } from '../../core/ids.ts'
import type { Database, Primitive, Queries, Row } from '../database.ts'
import { findTooLong } from '../lengths.ts'
import { RECOUNT } from '../schema/0012-unread-totals.ts'
import { assertExact } from '../schema/migrate.ts'
import { MIGRATIONS } from '../schema/migrations.ts'
import { type Counts, type Header, type Line, PAGE, type Progress, TABLES, VERSION } from './format.ts'

/**
 * Fills an empty database of the current schema from an archive. After an interruption, a second import of the same
 * archive continues. The events start a new history: clients read everything again.
 *
 * @throws Error when the database is not empty; when the file is not an archive, is newer than this program, or is
 *   incomplete; when a text is longer than the service allows: then the database is empty again
 */
export async function importArchive(
  db: Database,
  lines: AsyncIterable<string>,
  onProgress: Progress = () => {},
): Promise<Counts> {
  const counts: Counts = {}
  let insert: ((table: string, rows: Row[]) => Promise<void>) | undefined
  let batch: { table: string; rows: Row[] } = { table: '', rows: [] }
  const flush = async () => {
    if (batch.rows.length > 0) await insert!(batch.table, batch.rows)
    counts[batch.table] = (counts[batch.table] ?? 0) + batch.rows.length
    if (batch.table) onProgress(batch.table, counts[batch.table]!)
  }
  let number = 0
  for await (const text of lines) {
    number++
    const line = parseLine(text)
    if (!insert) {
      await begin(db, line as Header)
      insert = await createInserter(db)
    } else if ('table' in line) {
      const tooLong = findTooLong(line.table, line.row)
      if (tooLong) {
        await undo(db)
        throw new Error(`Nothing was imported: in line ${number} of the archive, ${tooLong}`)
      }
      if (line.table !== batch.table || batch.rows.length === PAGE) {
        await flush()
        batch = { table: line.table, rows: [] }
      }
      batch.rows.push(line.row)
    } else if ('end' in line) {
      await flush()
      return finish(db, line.counts)
    }
  }
  throw new Error('The archive is not whole: its end is missing')
}

const NO_ARCHIVE = 'This is not an archive of chat-server, or it is damaged'

function parseLine(text: string): Line {
  let line: unknown
  try {
    line = JSON.parse(text)
  } catch (cause) {
    throw new Error(NO_ARCHIVE, { cause })
  }
  if (!isLine(line)) throw new Error(NO_ARCHIVE)
  return line
}

/** Whether the line is the header of an archive, of any version. */
function isLine(line: unknown): line is Line {
  const { chat_server_archive, migrations, row, end, counts } = Object(line) as Record<string, unknown>
  if (chat_server_archive !== undefined) return chat_server_archive !== VERSION || Array.isArray(migrations)
  return isObject(row) || (end === true && isObject(counts))
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

/** Checks that the archive is readable and the database has no other data, and stores the id of the archive. */
async function begin(db: Database, header: Header): Promise<void> {
  if (header.chat_server_archive !== VERSION) throw new Error('This is not an archive that this program can read')
  await assertExact(db)
  const known = MIGRATIONS.map(({ name }) => name)
  const unknown = header.migrations.find((name) => !known.includes(name))
  if (unknown) throw new Error(`The archive (${unknown}) is newer than this program: install the newer version`)
  await db.write(async (tx) => {
    const before = await tx.get<{ value: string }>("SELECT value FROM meta WHERE name = 'import'")
    if (before?.value === header.id) return
    for (const [table] of TABLES) {
      if (await tx.get(`SELECT 1 AS found FROM ${table} LIMIT 1`)) throw new Error('The database is not empty')
    }
    await tx.run("INSERT INTO meta (name, value) VALUES ('import', ?)", header.id)
  })
}

/** Deletes the imported rows: the database was empty when the import began. */
function undo(db: Database): Promise<void> {
  return db.write(async (tx) => {
    for (const [table] of TABLES.toReversed()) await tx.run(`DELETE FROM ${table}`)
    await tx.run("DELETE FROM meta WHERE name = 'import'")
  })
}

export const INTERRUPTED =
  'An import into this database was interrupted: run "chat-server import" again with its archive'

/** @throws Error when an interrupted import has filled only a part of the database */
export async function assertImported(db: Queries): Promise<void> {
  if (await db.get("SELECT value FROM meta WHERE name = 'import'")) throw new Error(INTERRUPTED)
}

/** @returns a function that inserts rows and skips existing ones */
async function createInserter(db: Database): Promise<(table: string, rows: Row[]) => Promise<void>> {
  const columns = new Map<string, Set<string>>()
  for (const [table] of TABLES) columns.set(table, await listColumns(db, table))
  const numbering = db.dialect === 'postgresql' ? 'OVERRIDING SYSTEM VALUE' : ''
  return (table, rows) =>
    db.write(async (tx) => {
      const known = columns.get(table)
      for (const each of rows) {
        const row = upgradeRow(table, each)
        const names = Object.keys(row)
        if (!known || names.some((name) => !known.has(name))) throw new Error(`The archive has an unknown ${table}`)
        await tx.run(
          `INSERT INTO ${table} (${names.join(', ')}) ${numbering}
           VALUES (${names.map(() => '?').join(', ')}) ON CONFLICT DO NOTHING`,
          ...(Object.values(row) as Primitive[]),
        )
      }
    })
}

/** Fills in columns of an older archive whose default would be wrong there. */
function upgradeRow(table: string, row: Row): Row {
  // Older than the column: such accounts count as verified, as after a migration.
  if (table !== 'users' || 'email_verified_at' in row) return row
  return { ...row, email_verified_at: row.created_at! }
}

async function listColumns(db: Queries, table: string): Promise<Set<string>> {
  const rows =
    db.dialect === 'sqlite'
      ? await db.all<{ name: string }>('SELECT name FROM pragma_table_info(?)', table)
      : await db.all<{ name: string }>(
          'SELECT column_name AS name FROM information_schema.columns WHERE table_name = ? AND table_schema = current_schema()',
          table,
        )
  return new Set(rows.map(({ name }) => name))
}

/** Checks the counts, sets the sequences to the imported maximum, and starts a new event history. */
async function finish(db: Database, expected: Counts): Promise<Counts> {
  const counts: Counts = {}
  for (const [table] of TABLES) {
    counts[table] = (await db.get<{ total: number }>(`SELECT count(*) AS total FROM ${table}`))!.total
    // An older archive does not have this table.
    const should = expected[table] ?? 0
    if (counts[table] !== should) throw new Error(`There are ${counts[table]} ${table}, and should be ${should}`)
  }
  await db.write(
    async (tx) => {
      if (tx.dialect === 'postgresql')
        await tx.get(
          "SELECT setval(pg_get_serial_sequence('events', 'id'), (SELECT coalesce(max(id), 0) + 1 FROM events), false)",
        )
      // An older archive has no such counts, and no archive has the messages that an erasure was removing.
      for (const sql of RECOUNT) await tx.run(sql)
      await tx.run("UPDATE meta SET value = ? WHERE name = 'epoch'", newId())
      await tx.run("DELETE FROM meta WHERE name = 'import'")
    },
    { timeout: false },
  )
  return counts
}
