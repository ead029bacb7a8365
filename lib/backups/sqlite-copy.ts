import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { addonTrouble, BASE } from '../storage/sqlite/driver.ts'

const run = promisify(execFile)

/**
 * In a process of its own: copying a large file takes long, and in this process it would hold up all requests. A thread
 * could not be ended meanwhile, and when it closes the file, all locks of its process on it are gone
 * (https://sqlite.org/howtocorrupt.html, section 2.2).
 */
const COPY = `
const [base, file, copy, usesAddon] = process.argv.slice(1)
function open(path) {
  try {
    if (!usesAddon) throw new Error()
    return new (require('node:module').createRequire(base)('better-sqlite3'))(path)
  } catch (error) {
    if (String(error.code).startsWith('SQLITE_')) throw error
    return new (require('node:sqlite').DatabaseSync)(path)
  }
}
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

/** Copies a SQLite file that is in use in one consistent state, and checks the copy. */
export async function copySqlite(file: string, copy: string, signal: AbortSignal): Promise<void> {
  const { NODE_OPTIONS: _, ...env } = process.env
  try {
    const args = ['--no-warnings', '-e', COPY, BASE, file, copy, addonTrouble() ? '' : 'yes']
    await run(process.execPath, args, { env, signal })
  } catch (error) {
    signal.throwIfAborted()
    const { stdout, message } = error as { stdout?: string; message: string }
    throw new Error(stdout || message, { cause: error })
  }
}
