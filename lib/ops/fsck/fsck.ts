import { listPartitions } from '../../chat/search/store-fts5.ts'
import type { Context } from '../../context.ts'
import { isAtMostMember } from '../../core/access.ts'
import { assertKnown } from '../../core/use-case.ts'
import { withVisible } from '../../storage/archive/visible.ts'
import type { Database, Queries } from '../../storage/database.ts'
import { isDamage } from '../../storage/errors.ts'
import { findDatabaseFile } from '../../storage/place.ts'
import { MIGRATIONS } from '../../storage/schema/migrations.ts'
import { shapeAfter } from '../../storage/schema/shape.ts'
import { listChanges } from '../../storage/schema/verify.ts'
import { join, literal, type Sql, sql } from '../../storage/sql.ts'
import { checkApart, checkHere, IS_REMOVING, isLarge } from './integrity-process.ts'
import type { Invariant, Repair } from './invariant.ts'
import { invariants } from './invariants.ts'
import { listBrokenJson } from './json-columns.ts'

/** Nothing else detects objects added to the service's tables, such as triggers, which can have any effect. */
const SCHEMA = {
  name: 'schema',
  says: 'The tables are unchanged: no triggers, no other columns.',
  remedy: 'Undo that change, or move the data into a new database with "chat-server export" and "import".',
}

/** A row of another program may have any text: what the service cannot parse fails the calls that read it. */
const JSON_STORED = {
  name: 'json',
  says: 'What is stored as JSON is an object or a list.',
  remedy:
    'Restore a backup, or set the value to NULL, or to such JSON. Then check again: what reads these columns was left out.',
}

const FILE = { name: 'file', says: 'The database file is intact.' }

/** What to do unless an invariant has its own remedy. */
const REPAIR = 'Run "chat-server fsck --repair".'
const BACKUP =
  'Stop the service and restore a backup. Without one, keep a copy and try "chat-server export" and "import".'

/** Memory of PostgreSQL for each sort or hash, instead of 4 MB: those of a million rows then need no temporary files. */
const WORK_MEM = '64MB'

/** The number of ids listed for each broken invariant. */
const MAX_EXAMPLES = 10

/** The checks before the invariants. */
const FIRST = [FILE.name, SCHEMA.name, 'references', JSON_STORED.name]

/** The violations of one invariant. */
export interface Finding {
  name: string
  says: string
  /** The number of violations. */
  count: number
  /** The ids of some of them. */
  examples: string[]
  /** What to do about it. */
  remedy: string
  /** Not an error, but worth reporting. */
  note?: true
  /** Whether it was repaired; missing if a repair was not requested or is not possible. */
  repaired?: true
}

/** The result of a check of the whole database; `findings` is empty if it is consistent. */
export interface Checkup {
  checked: number
  findings: Finding[]
}

/**
 * Checks the invariants of the database, all on one consistent state of it.
 *
 * @param options.repair corrects wrong counts and lists; other findings are left as they are
 * @param options.onProgress called with the name of the next check, its number from 1, and the number of all
 */
export async function fsck(
  ctx: Context,
  options: { repair?: boolean; onProgress?: (name: string, step: number, steps: number) => void } = {},
): Promise<Checkup> {
  assertKnown(options, { repair: 0, onProgress: 0 })
  const { access, config, db, now } = ctx
  const { max_sessions_per_user } = config.session
  const partitions = db.dialect === 'sqlite' ? await listPartitions(db) : []
  const roles_beyond_member = [...access.participant.keys()].filter((role) => !isAtMostMember(access, role))
  const all = invariants({ dialect: db.dialect, now: now(), max_sessions_per_user, partitions, roles_beyond_member })
  let step = 0
  const begin = (name: string) => options.onProgress?.(name, ++step, all.length + FIRST.length)
  const found = await findAll(db, { all, partitions, begin })
  const repairs = new Map(all.flatMap(({ name, repair }) => (repair ? [[name, repair]] : [])))
  if (!options.repair || !found.some(({ name }) => repairs.has(name))) return { checked: all.length, findings: found }
  // All of them: counts that are computed from each other may agree although both are wrong.
  for (const repair of repairs.values()) await mend(db, repair)
  const findings = found.map((finding) =>
    repairs.has(finding.name) ? { ...finding, remedy: 'Nothing: it is repaired.', repaired: true as const } : finding,
  )
  return { checked: all.length, findings }
}

interface Checking {
  all: Invariant[]
  partitions: readonly number[]
  /** Called before each check. */
  begin: (name: string) => void
}

/** Checks the file, the schema, the references and the invariants. */
async function findAll(db: Database, { all, partitions, begin }: Checking): Promise<Finding[]> {
  const findings: Finding[] = []
  const file = db.dialect === 'sqlite' ? await findDatabaseFile(db) : ''
  const apart = isLarge(file) ? all.filter((invariant) => invariant.apart) : []
  let checkable: Invariant[] = []
  const checkAll = async (queries: Queries) => {
    if (queries.dialect === 'postgresql')
      await queries.get(sql`SELECT set_config('work_mem', ${literal(WORK_MEM)},
           true)`)
    begin(SCHEMA.name)
    const changes = await listChanges(queries)
    findings.push(...finding(SCHEMA, changes))
    // A missing table cannot be checked.
    if (changes.some((change) => change.startsWith('no '))) return
    begin('references')
    findings.push(...(await checkReferences(queries)))
    begin(JSON_STORED.name)
    const broken = await listBrokenJson(queries)
    findings.push(...finding(JSON_STORED, broken))
    // A statement that parses broken JSON fails.
    checkable = all.filter(({ find }) => broken.length === 0 || !/json/i.test(find.text))
    const scope = await scopeOf(queries)
    const areMessagesRight = await haveNoViolation(queries, checkable, scope)
    for (const invariant of all) {
      begin(invariant.name)
      const isLeftOut = apart.includes(invariant) || !checkable.includes(invariant)
      if (isLeftOut || (invariant.where && areMessagesRight)) continue
      findings.push(...(await check(queries, invariant, scope)))
    }
  }
  begin(FILE.name)
  // Both begin at once: the first one is another process if the file is large.
  const [first, rest] = await Promise.allSettled([
    isLarge(file) ? checkApart(db, { file, partitions, checks: apart }) : checkHere(db, partitions),
    db.snapshot(checkAll, { timeout: false }),
  ])
  if (first.status === 'rejected') throw first.reason
  const { lines, ids } = first.value
  findings.unshift(...finding(FILE, lines))
  // A damaged file is checked as far as it can be read.
  if (rest.status === 'rejected' && (findings.length === 0 || !isDamage(rest.reason.cause))) throw rest.reason
  for (const invariant of apart.filter((name) => checkable.includes(name))) {
    const known = ids.get(invariant.name)
    findings.push(...(known ? toFindings(invariant, known) : await check(db, invariant, await scopeOf(db))))
  }
  return findings
}

/** What the checks read: a conversation that is being removed is incomplete. */
async function scopeOf(db: Queries): Promise<Sql> {
  return (await db.get(IS_REMOVING)) ? withVisible(db.dialect) : sql``
}

async function check(db: Queries, invariant: Invariant, scope: Sql): Promise<Finding[]> {
  const rows = await db.all<{ id: string | number }>(sql`${scope}${invariant.find}`)
  return toFindings(
    invariant,
    rows.map(({ id }) => String(id)),
  )
}

function toFindings({ repair, remedy, ...invariant }: Invariant, ids: string[]): Finding[] {
  return finding({ ...invariant, remedy: repair ? REPAIR : remedy }, ids)
}

/**
 * Whether one scan of all messages finds none that violates an invariant with a condition on each. PostgreSQL joins whole
 * tables faster than it looks up each row.
 */
async function haveNoViolation(db: Queries, all: Invariant[], scope: Sql): Promise<boolean> {
  if (db.dialect !== 'sqlite') return false
  const conditions = all.flatMap(({ where }) => (where ? sql`(${where})` : []))
  const any = sql`${scope} SELECT 1 AS found FROM messages m WHERE ${join(conditions, ' OR ')} LIMIT 1`
  return (await db.get(any)) === undefined
}

async function checkReferences(db: Queries): Promise<Finding[]> {
  if (db.dialect !== 'sqlite') return []
  const all = await db.all<{ table: string }>(sql`PRAGMA foreign_key_check`)
  // Tables of the host in the same file may have references of their own.
  const tables = new Set(
    [...shapeAfter(MIGRATIONS.length, 'sqlite').tables.keys()].map((table) => db.names?.inCatalog(table) ?? table),
  )
  const rows = all.filter(({ table }) => tables.has(table.toLowerCase()))
  return finding(
    { name: 'references', says: 'Every foreign key refers to an existing row.' },
    rows.map(({ table }) => table),
  )
}

type Checked = Pick<Invariant, 'name' | 'says' | 'note' | 'remedy'>

function finding({ name, says, note, remedy = BACKUP }: Checked, lines: string[]): Finding[] {
  if (lines.length === 0) return []
  return [{ name, says, ...(note && { note }), count: lines.length, examples: lines.slice(0, MAX_EXAMPLES), remedy }]
}

/** Recalculates a count or a list. On PostgreSQL, messages wait for it: a count of an earlier state would undo theirs. */
async function mend(db: Database, repair: Repair): Promise<void> {
  await db.write(
    async (tx) => {
      if (tx.dialect === 'postgresql') await tx.run(sql`LOCK TABLE conversations IN EXCLUSIVE MODE`)
      await (typeof repair === 'function' ? repair(tx) : tx.run(repair))
    },
    { timeout: false },
  )
}
