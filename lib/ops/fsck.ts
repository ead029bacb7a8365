import type { Context } from '../context.ts'
import type { Database, Queries } from '../storage/database.ts'
import { type Invariant, invariants } from './invariants.ts'

/** How many ids are named of those that break an invariant. */
const EXAMPLES = 10

/** What was found of one invariant. */
export interface Finding {
  name: string
  says: string
  /** How much breaks it. */
  count: number
  /** The ids of some of it. */
  examples: string[]
  /** Whether it was put right; missing when that was not asked for, or cannot be done. */
  repaired?: true
}

/** What a check of the whole database has found; `findings` is empty when all is well. */
export interface Checkup {
  checked: number
  findings: Finding[]
}

/**
 * Checks that what always holds in a database of ours does, all on one state of it.
 *
 * @param options.repair puts counts right that are wrong; whatever else is found is left as it is
 * @param options.onProgress is told what is checked next
 */
export async function fsck(
  ctx: Context,
  options: { repair?: boolean; onProgress?: (name: string) => void } = {},
): Promise<Checkup> {
  const { config, db, now } = ctx
  const { max_sessions_per_user } = config.session
  const all = invariants({ dialect: db.dialect, now: now(), max_sessions_per_user })
  const found = await db.snapshot(
    async (queries) => {
      const findings: Finding[] = await checkFile(queries)
      for (const invariant of all) {
        options.onProgress?.(invariant.name)
        findings.push(...(await check(queries, invariant)))
      }
      return findings
    },
    { patient: true },
  )
  const findings: Finding[] = []
  for (const finding of found) {
    const { repair } = all.find(({ name }) => name === finding.name) ?? {}
    findings.push(options.repair && repair ? await mend(db, finding, repair) : finding)
  }
  return { checked: all.length, findings }
}

async function check(db: Queries, { name, says, find, params = [] }: Invariant): Promise<Finding[]> {
  const rows = await db.all<{ id: string | number }>(find, ...params)
  if (rows.length === 0) return []
  return [{ name, says, count: rows.length, examples: rows.slice(0, EXAMPLES).map(({ id }) => String(id)) }]
}

/** What SQLite itself says of its file; PostgreSQL looks after its own. */
async function checkFile(db: Queries): Promise<Finding[]> {
  if (db.dialect !== 'sqlite') return []
  const rows = [
    ...(await db.all<{ integrity_check: string }>('PRAGMA integrity_check')).map((row) => row.integrity_check),
    ...(await db.all<{ table: string }>('PRAGMA foreign_key_check')).map(
      ({ table }) => `${table}: a row refers to none`,
    ),
  ].filter((line) => line !== 'ok')
  if (rows.length === 0) return []
  const says = 'The file of the database is whole.'
  return [{ name: 'file', says, count: rows.length, examples: rows.slice(0, EXAMPLES) }]
}

async function mend(db: Database, finding: Finding, repair: string): Promise<Finding> {
  await db.write((tx) => tx.run(repair), { patient: true })
  return { ...finding, repaired: true }
}
