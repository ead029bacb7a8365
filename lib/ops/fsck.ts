import type { Context } from '../context.ts'
import { withVisible } from '../storage/archive/visible.ts'
import type { Database, Queries } from '../storage/database.ts'
import { isDamage } from '../storage/errors.ts'
import { listChanges } from '../storage/schema/verify.ts'
import { type Invariant, invariants } from './invariants.ts'

/** Nothing else notices what was added to tables of ours, and it may do anything. */
const SCHEMA = { name: 'schema', says: 'The tables are as chat-server made them: no triggers, no other columns.' }

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
  /** Nothing is wrong, but somebody may want to know. */
  note?: true
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
  const found: Finding[] = []
  const checkAll = async (queries: Queries) => {
    found.push(...(await checkFile(queries)))
    const changes = await listChanges(queries)
    found.push(...finding(SCHEMA, changes))
    // What is not there cannot be looked at.
    if (changes.some((change) => change.startsWith('no '))) return
    found.push(...(await checkReferences(queries)))
    // Of a conversation that is being removed only some is there.
    const isRemoving = await queries.get('SELECT 1 AS found FROM conversations WHERE deleted_at IS NOT NULL LIMIT 1')
    const scope = isRemoving ? withVisible(db.dialect) : ''
    for (const invariant of all) {
      options.onProgress?.(invariant.name)
      found.push(...(await check(queries, { ...invariant, find: scope + invariant.find })))
    }
  }
  try {
    await db.snapshot(checkAll, { timeout: false })
  } catch (error) {
    // A damaged file is told of as far as it can be read.
    if (found.length === 0 || !isDamage((error as Error).cause)) throw error
  }
  const findings: Finding[] = []
  for (const finding of found) {
    const { repair } = all.find(({ name }) => name === finding.name) ?? {}
    findings.push(options.repair && repair ? await mend(db, finding, repair) : finding)
  }
  return { checked: all.length, findings }
}

async function check(db: Queries, { name, says, find, note, params = [] }: Invariant): Promise<Finding[]> {
  const rows = await db.all<{ id: string | number }>(find, ...params)
  return finding(
    { name, says, note },
    rows.map(({ id }) => String(id)),
  )
}

/** What SQLite itself says of its file; PostgreSQL looks after its own. */
async function checkFile(db: Queries): Promise<Finding[]> {
  if (db.dialect !== 'sqlite') return []
  const file = { name: 'file', says: 'The file of the database is whole.' }
  try {
    const rows = await db.all<{ integrity_check: string }>('PRAGMA integrity_check')
    const lines = rows.map((row) => row.integrity_check).filter((line) => line !== 'ok')
    return finding(file, lines)
  } catch (error) {
    // So badly that not even the check can go through it.
    if (!isDamage(error)) throw error
    return finding(file, [(error as Error).message])
  }
}

async function checkReferences(db: Queries): Promise<Finding[]> {
  if (db.dialect !== 'sqlite') return []
  const rows = await db.all<{ table: string }>('PRAGMA foreign_key_check')
  return finding(
    { name: 'references', says: 'A row refers to those that are there.' },
    rows.map(({ table }) => table),
  )
}

function finding({ name, says, note }: Pick<Invariant, 'name' | 'says' | 'note'>, lines: string[]): Finding[] {
  if (lines.length === 0) return []
  return [{ name, says, ...(note && { note }), count: lines.length, examples: lines.slice(0, EXAMPLES) }]
}

async function mend(db: Database, finding: Finding, repair: string): Promise<Finding> {
  await db.write((tx) => tx.run(repair), { timeout: false })
  return { ...finding, repaired: true }
}
