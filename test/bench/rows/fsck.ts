import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { seedChecked } from '../checked/seed.ts'
import { progress } from '../report.ts'
import type { Bench, Round, Row } from '../row.ts'
import { ROOT } from '../servers/child.ts'
import { onPostgres, onSqlite, postgresMissing, type WithDatabases } from '../servers/databases.ts'
import { urlOf } from '../servers/service.ts'

const MESSAGES = 1_000_000

/** The number of messages for short rounds (`--quick`). */
const QUICK_MESSAGES = 50_000
const QUICK_SECONDS = 1

const title = `chat-server fsck, the whole command, of ${MESSAGES.toLocaleString('en-US')} messages`

/** How long all checks of a consistent database take. */
export const fsck: Row[] = [
  {
    name: 'fsck',
    title,
    unit: 's',
    better: 'lower',
    reach: 10,
    beyond: 5,
    measure: (bench) => measure(bench, onSqlite),
  },
  {
    name: 'fsck-pg',
    title: `${title}, on PostgreSQL`,
    unit: 's',
    better: 'lower',
    reach: 10,
    beyond: 5,
    unavailable: postgresMissing,
    measure: (bench) => measure(bench, onPostgres),
  },
]

function measure({ command, rounds, seconds }: Bench, withDatabases: WithDatabases): Promise<Round[]> {
  const messages = seconds > QUICK_SECONDS ? MESSAGES : QUICK_MESSAGES
  if (messages < MESSAGES) progress(`  of ${messages.toLocaleString('en-US')} messages only`)
  return withDatabases(async (create) => {
    const database = await create()
    await seedChecked(command, database, messages)
    const results: Round[] = []
    for (let round = 0; round < rounds; round++) {
      const began = performance.now()
      // It fails if a seeded row is wrong.
      await promisify(execFile)(process.execPath, [...command, 'fsck', '--database', urlOf(database)], { cwd: ROOT })
      results.push({ service: (performance.now() - began) / 1000 })
    }
    return results
  })
}
