import { runApart } from '../storage/sqlite/child-process.ts'

const COPY = `
const [file, copy, parent] = args
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

/** Copies a SQLite file that is in use in one consistent state, and checks the copy; in a process of its own. */
export async function copySqlite(file: string, copy: string, signal: AbortSignal): Promise<void> {
  try {
    await runApart(COPY, [file, copy, String(process.pid)], signal)
  } catch (error) {
    signal.throwIfAborted()
    const { stdout, message } = error as { stdout?: string; message: string }
    throw new Error(stdout || message, { cause: error })
  }
}
