import { statSync } from 'node:fs'
import { partitionTable } from '../../chat/search/store-fts5.ts'
import { withVisible } from '../../storage/archive/visible.ts'
import type { Database } from '../../storage/database.ts'
import { isDamage } from '../../storage/errors.ts'
import { name, type Sql, sql } from '../../storage/sql.ts'
import { runApart } from '../../storage/sqlite/child-process.ts'
import type { Invariant } from './invariant.ts'

/** From this size on, a process of its own takes less time than the same checks in this one. */
const LARGE_BYTES = 64 * 1024 * 1024

/** Finds something while a conversation is being removed. */
export const IS_REMOVING = sql`SELECT 1 AS found FROM conversations WHERE deleted_at IS NOT NULL LIMIT 1`

/** FTS5 looks for what another process has merged only in a query: the check alone would miss parts that were merged. */
const queriesOf = (partitions: readonly number[]) =>
  partitions.map((partition) => sql`SELECT rowid FROM ${name(partitionTable(partition))}('any')`)

/** Mapping the file saves the system calls. Where the disk cannot read a part, that ends this process, and no other one. */
const CHECK = `
const { file, queries, isRemoving, checks } = JSON.parse(args[0])
const db = open(file)
db.exec('PRAGMA busy_timeout = 5000; PRAGMA query_only = ON; PRAGMA temp_store = MEMORY')
db.exec('PRAGMA mmap_size = 68719476736; PRAGMA cache_size = -65536; BEGIN')
for (const query of queries) db.prepare(query).get()
const lines = db.prepare('PRAGMA integrity_check').all()
const ids = []
try {
  const removing = db.prepare(isRemoving).get() !== undefined
  for (const { name, all, visible } of checks) ids.push([name, db.prepare(removing ? visible : all).all()])
} catch {}
db.exec('COMMIT')
db.close()
process.stdout.write(JSON.stringify({ lines, ids }))
`

/** What was found in a process of its own. */
export interface Apart {
  /** What is wrong with the file. */
  lines: string[]
  /** The violations of invariants, by name; those that could not be checked are missing. */
  ids: Map<string, string[]>
}

interface Wanted {
  /** Its path; empty in memory, and with PostgreSQL. */
  file: string
  /** The partitions of the search index. */
  partitions: readonly number[]
  /** The invariants to be checked beside the others. */
  checks: Pick<Invariant, 'name' | 'find'>[]
}

/** Whether checks of this file are worth a process of their own. */
export function isLarge(file: string): boolean {
  return file !== '' && statSync(file).size >= LARGE_BYTES
}

/** SQLite's own check of its file, and further ones, at the same time as what this process does. */
export async function checkApart(db: Database, { file, partitions, checks }: Wanted): Promise<Apart> {
  const qualify = ({ text }: Sql) => db.names?.qualify(text) ?? text
  const order = {
    file,
    queries: queriesOf(partitions).map(qualify),
    isRemoving: qualify(IS_REMOVING),
    checks: checks.map(({ name, find }) => ({
      name,
      all: qualify(find),
      visible: qualify(sql`${withVisible(db.dialect)}${find}`),
    })),
  }
  // This process reports why, when it does the same.
  const result = await runApart(CHECK, [JSON.stringify(order)]).catch(() => undefined)
  if (result === undefined) return checkHere(db, partitions)
  const { lines, ids } = JSON.parse(result) as { lines: IntegrityLine[]; ids: [string, { id: string | number }[]][] }
  return { lines: linesOf(lines), ids: new Map(ids.map(([name, rows]) => [name, rows.map(({ id }) => String(id))])) }
}

/** SQLite's own check of its file; PostgreSQL has none. */
export async function checkHere(db: Database, partitions: readonly number[]): Promise<Apart> {
  return { lines: db.dialect === 'sqlite' ? await checkFile(db, partitions) : [], ids: new Map() }
}

/** In one transaction: another process may merge a part between the query and the check. */
async function checkFile(db: Database, partitions: readonly number[]): Promise<string[]> {
  try {
    return await db.snapshot(async (snapshot) => {
      for (const query of queriesOf(partitions)) await snapshot.get(query)
      return linesOf(await snapshot.all<IntegrityLine>(sql`PRAGMA integrity_check`))
    })
  } catch (error) {
    const cause = (error as Error).cause ?? error
    // The file is so damaged that the check itself fails.
    if (!isDamage(cause)) throw error
    return [(cause as Error).message]
  }
}

interface IntegrityLine {
  integrity_check: string
}

function linesOf(rows: IntegrityLine[]): string[] {
  return rows.map((row) => row.integrity_check).filter((line) => line !== 'ok')
}
