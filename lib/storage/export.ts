import { newId, toInstant } from '../ids.ts'
import { type Counts, type Line, PAGE, type Progress, TABLES, VERSION } from './archive.ts'
import type { Database, Queries, Row } from './database.ts'
import { listMigrations } from './migrate.ts'

/** Of one database only: the other one has no such column, or numbers anew. */
const LOCAL_COLUMNS: Record<string, string[]> = { events: ['feed'] }

/**
 * The database as lines of JSON, all of one state of it: a header, a line for each row, and the counts at the end.
 *
 * @param write is called with some lines at a time, each with its line break
 */
export async function exportArchive(
  db: Database,
  write: (lines: string) => void,
  onProgress: Progress = () => {},
): Promise<Counts> {
  const migrations = (await listMigrations(db)).flatMap(({ name, applied_at }) => (applied_at ? [name] : []))
  const say = (...lines: Line[]) => write(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  say({ chat_server_archive: VERSION, id: newId(), exported_at: toInstant(Date.now() * 1000), migrations })
  const counts: Counts = {}
  await db.snapshot(
    async (queries) => {
      for (const [table, ...key] of TABLES) {
        counts[table] = 0
        for (let page = await readPage(queries, table, key); page.length > 0; ) {
          say(...page.map((row) => ({ table, row: withoutLocal(table, row) })))
          counts[table] += page.length
          onProgress(table, counts[table])
          page = await readPage(queries, table, key, page.at(-1))
        }
      }
    },
    { patient: true },
  )
  say({ end: true, counts })
  return counts
}

async function readPage(db: Queries, table: string, key: string[], after?: Row): Promise<Row[]> {
  const columns = key.join(', ')
  const where = after ? `WHERE (${columns}) > (${key.map(() => '?').join(', ')})` : ''
  const last = after ? key.map((name) => after[name]!) : []
  return db.all(`SELECT * FROM ${table} ${where} ORDER BY ${columns} LIMIT ${PAGE}`, ...last)
}

function withoutLocal(table: string, row: Row): Row {
  const local = LOCAL_COLUMNS[table] ?? []
  return Object.fromEntries(Object.entries(row).filter(([name]) => !local.includes(name)))
}
