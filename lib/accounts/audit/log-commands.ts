import type { Context } from '../../context.ts'
import { hasUnlogged, takeUnlogged, toRecord } from './store.ts'

/** How often a node looks for acts of the command line: their lines come within five seconds. */
export const COMMANDS_MS = 2_000

/** The number of entries that are logged at a time. */
const BATCH = 100

/**
 * Logs the acts of commands, which run beside the service: each on one node. A node that is killed between the commit and
 * the line logs none; the entry stays.
 */
export async function logCommands({ db, write, log }: Pick<Context, 'db' | 'write' | 'log'>): Promise<void> {
  while (await hasUnlogged(db)) {
    const rows = await write((tx) => takeUnlogged(tx, BATCH))
    for (const { id: _, detail, ...entry } of rows.map(toRecord)) log.info('audit', { ...entry, ...detail })
    if (rows.length < BATCH) return
  }
}
