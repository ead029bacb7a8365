import { runApart } from '../storage/sqlite/apart.ts'

const COPY = `
const [file, copy] = args
try {
  const db = open(file)
  db.exec('PRAGMA busy_timeout = 10000')
  db.prepare('VACUUM INTO ?').run(copy)
  db.close()
  const made = open(copy)
  const [check] = Object.values(made.prepare('PRAGMA quick_check').get())
  made.close()
  if (check !== 'ok') throw new Error('The database is damaged: ' + check)
} catch (error) {
  process.stdout.write(error.message)
  process.exitCode = 1
}
`

/** Copies a SQLite file that is in use in one consistent state, and checks the copy; in a process of its own. */
export async function copySqlite(file: string, copy: string, signal: AbortSignal): Promise<void> {
  try {
    await runApart(COPY, [file, copy], signal)
  } catch (error) {
    signal.throwIfAborted()
    const { stdout, message } = error as { stdout?: string; message: string }
    throw new Error(stdout || message, { cause: error })
  }
}
