import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../lib/config/parse.ts'
import type { Log } from '../lib/context.ts'
import { ChatError } from '../lib/core/errors.ts'
import { UsageError } from './args/command.ts'
import { parseNumber } from './args/number.ts'
import { toErrorMessage } from './errors.ts'

/** The flag of the commands that wait for their database. */
export const waitArg = {
  wait: { type: 'string', valueHint: 'seconds', description: 'Seconds to wait for a PostgreSQL that is not there yet' },
} as const

const RETRY_MS = 500

const MAX_SECONDS = 3600

/**
 * Waits until PostgreSQL takes connections and has the database. SQLite is ready at once.
 *
 * @param flags.wait the number of seconds; without it nothing is waited for
 * @throws the last error once the time is up; any other error at once, such as a wrong password
 */
export async function waitForDatabase(
  { database }: Config,
  flags: { wait?: string | undefined },
  say: Log['info'],
): Promise<void> {
  const seconds = parseNumber('wait', flags.wait)
  if (seconds === undefined) return
  if (!(seconds >= 0 && seconds <= MAX_SECONDS)) throw new UsageError(`--wait must be from 0 to ${MAX_SECONDS} seconds`)
  if (database.url.startsWith('sqlite:')) return
  const end = performance.now() + seconds * 1000
  for (let isFirst = true; ; isFirst = false) {
    const error = await attempt(database)
    if (!error) return
    if (!isLater(error)) throw error
    if (performance.now() >= end)
      throw new Error(`The database was not there within ${seconds} seconds: ${toErrorMessage(error)}`, {
        cause: error,
      })
    if (isFirst) say('Waiting for the database.', { cause: toErrorMessage(error) })
    await sleep(RETRY_MS)
  }
}

/** Connects once. @returns the error */
async function attempt({ url: database, ...postgres }: Config['database']): Promise<Error | undefined> {
  // Loaded on demand: the help of a command needs no database driver.
  const { openStorage } = await import('../lib/index.ts')
  try {
    const storage = await openStorage({ database, ...postgres })
    await storage.close()
    return undefined
  } catch (error) {
    // What the driver has reported, if it is known.
    return error instanceof ChatError && error.cause instanceof Error ? error.cause : (error as Error)
  }
}

/** Whether the error may be over in a moment: no connection, no such host or socket yet, starting, no database yet. */
function isLater(error: Error): boolean {
  const codes = [error, ...(error instanceof AggregateError ? error.errors : [])].map(({ code }) => String(code))
  const isCode = codes.some((code) =>
    /^(ECONN|EPIPE|ENOENT|EHOST|ENET|ETIMEDOUT|ENOTFOUND|EAI_|08|57P0|53300|3D000)/.test(code),
  )
  return isCode || /timeout expired|Connection terminated|timeout exceeded/i.test(error.message)
}
