import { markStatement } from '../storage/archive/copied.ts'
import type { Database } from '../storage/database.ts'
import { getDatabaseFile } from '../storage/place.ts'
import { runApart } from '../storage/sqlite/child-process.ts'

const COPY = `
const [file, copy, mark, parent] = args
// A process that was killed reads no copy, and deletes none.
const isOrphan = () => process.ppid !== Number(parent)
try {
  const db = open(file)
  db.exec('PRAGMA busy_timeout = 10000')
  db.prepare('VACUUM INTO ?').run(copy)
  db.close()
  if (!isOrphan()) {
    const made = open(copy)
    const [check] = Object.values(made.prepare('PRAGMA quick_check').get())
    if (check === 'ok') made.exec(mark)
    made.close()
    if (check !== 'ok') throw new Error('The database is damaged: ' + check)
  }
} catch (error) {
  process.stdout.write(error.message)
  process.exitCode = 1
} finally {
  if (isOrphan()) for (const end of ['', '-wal', '-shm', '-journal']) require('node:fs').rmSync(copy + end, { force: true })
}
`

/** Copies a SQLite file that is in use in one consistent state, checks the copy, and marks it; in a process of its own. */
export async function copySqlite(db: Database, copy: string, signal: AbortSignal): Promise<void> {
  try {
    await runApart(COPY, [await getDatabaseFile(db), copy, markStatement(db), String(process.pid)], signal)
  } catch (error) {
    signal.throwIfAborted()
    const { stdout, message } = error as { stdout?: string; message: string }
    throw new Error(stdout || message, { cause: error })
  }
}
