import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { openStorage } from '../../../lib/storage/open.ts'
import { statement } from '../../../lib/storage/sql.ts'
import { programArgs } from '../../support/programs.ts'
import { inconsistenciesIn } from '../invariants.ts'

/** The result of killing a process at each statement of all migrations. */
export interface MigrationFigures {
  kills: number
  faults: string[]
}

/**
 * Kills a process at every `stride`-th statement of its migrations, each time on a new database; then another process
 * completes them, and the result is checked.
 */
export async function killMigrations(newUrl: () => Promise<string>, stride: number): Promise<MigrationFigures> {
  const wanted = await schemaOf(await migrated(await newUrl()))
  const faults: string[] = []
  let kills = 0
  for (let n = 1; ; n += stride) {
    const url = await newUrl()
    const args = ['--no-warnings', ...programArgs('test/storage/program.ts'), 'migrate', url, `#${n}`]
    const child = spawn(process.execPath, args, { stdio: 'ignore' })
    const [, signal] = await once(child, 'exit')
    // It has run all statements.
    if (signal !== 'SIGKILL') return { kills, faults }
    kills++
    const schema = await schemaOf(await migrated(url)).catch(String)
    if (schema !== wanted) faults.push(`killed at statement ${n}: ${schema.slice(0, 300)}`)
    faults.push(...(await inconsistenciesIn(url)).map((fault) => `killed at statement ${n}: ${fault}`))
  }
}

async function migrated(url: string): Promise<string> {
  const storage = await openStorage({ database: url })
  await storage.migrate()
  await storage.close()
  return url
}

async function schemaOf(url: string): Promise<string> {
  const { db, close } = await openStorage({ database: url })
  const query =
    db.dialect === 'sqlite'
      ? "SELECT type || ' ' || name || ' ' || coalesce(sql, '') AS line FROM sqlite_master"
      : `SELECT table_name || ' ' || column_name || ' ' || data_type AS line FROM information_schema.columns
          WHERE table_schema = 'public'
         UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'`
  const lines = await db.all<{ line: string }>(statement(query))
  await close()
  return lines
    .map(({ line }) => line)
    .sort()
    .join('\n')
}
