import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { addonTrouble, BASE } from './driver.ts'

const run = promisify(execFile)

/** The longest list of lines that a script may print. */
const MAX_OUTPUT = 16 * 1024 * 1024

const OPEN = `
const [base, usesAddon, ...args] = process.argv.slice(1)
function open(path) {
  try {
    if (!usesAddon) throw new Error()
    return new (require('node:module').createRequire(base)('better-sqlite3'))(path)
  } catch (error) {
    if (String(error.code).startsWith('SQLITE_')) throw error
    return new (require('node:sqlite').DatabaseSync)(path)
  }
}
`

/**
 * Runs a script that has `open(path)` and `args` in a process of its own: what takes SQLite long holds up no request there,
 * and has a core of its own. A thread could not be ended in that time, and when it closes the file, all locks of its
 * process on it are lost (https://sqlite.org/howtocorrupt.html, section 2.2).
 *
 * @returns what it has printed
 * @throws Error of `execFile`, with `stdout` and `signal`, if it fails or cannot be started
 */
export async function runApart(script: string, args: string[], signal?: AbortSignal): Promise<string> {
  const { NODE_OPTIONS: _, ...env } = process.env
  const all = ['--no-warnings', '-e', OPEN + script, BASE, addonTrouble() ? '' : 'yes', ...args]
  const running = run(process.execPath, all, { env, maxBuffer: MAX_OUTPUT, ...(signal && { signal }) })
  try {
    return (await running).stdout
  } catch (error) {
    // An abort rejects at once, while the process may still write a file that the caller deletes.
    const { pid, exitCode, signalCode } = running.child
    if (pid !== undefined && exitCode === null && signalCode === null) await once(running.child, 'exit')
    throw error
  }
}
