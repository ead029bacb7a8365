import { newId } from '../../core/ids.ts'
import type { NamesOf } from '../../core/known-names.ts'
import { hasTable } from '../catalog.ts'
import { forgetClock } from '../clock-notes.ts'
import { type CopiedAnswers, stopCopiedAnswers } from '../copied-answers.ts'
import type { Database, Queries } from '../database.ts'
import { disableRestored } from '../disabled-webhooks.ts'
import { beginHistory } from '../histories.ts'
import { sql } from '../sql.ts'
import { runApart } from '../sqlite/child-process.ts'

/** What a copy of a database no longer does. */
export interface Settled extends CopiedAnswers {
  /** The mails that waited, which the original has sent. */
  mails: number
  /** The webhooks that were disabled. */
  webhooks: number
}

/** What a copy goes on with. */
export interface CopyOptions {
  /** Leaves webhooks enabled: the original does not call their URLs any more. */
  enable_webhooks?: boolean
}

/** The options that exist. */
export const COPY_OPTIONS: NamesOf<CopyOptions> = { enable_webhooks: 0 }

/** A statement for a SQLite file outside a database of ours: it notes that the file is a copy. */
export function markStatement({ names }: Pick<Queries, 'names'>): string {
  return `INSERT INTO ${names?.inStatement('meta') ?? 'meta'} (name, value) VALUES ('copy', '1') ON CONFLICT (name) DO NOTHING`
}

const MARK = `
const db = open(args[0])
db.exec(args[1])
db.close()
`

/** Notes in the copy of a SQLite database that it is one: the first service that starts on it settles it. */
export async function markCopy(db: Queries, copy: string): Promise<void> {
  await runApart(MARK, [copy, markStatement(db)])
}

/** Makes a database that is a copy one of its own, in which nothing waits that the original does as well. */
export async function settleCopy(db: Database, options: CopyOptions = {}): Promise<Settled> {
  const tables = await findTables(db)
  return db.write((tx) => settle(tx, tables, options))
}

/** As {@link settleCopy}, if the database is marked as a copy. @returns `undefined` if it is none */
export async function settleIfCopy(db: Database): Promise<Settled | undefined> {
  if (!(await hasTable(db, 'meta')) || !(await isMarked(db))) return undefined
  const tables = await findTables(db)
  // The second of two processes that start at once finds no mark.
  return db.write(async (tx) => ((await isMarked(tx)) ? settle(tx, tables) : undefined))
}

type Tables = Awaited<ReturnType<typeof findTables>>

/** A copy may be older than these tables. */
async function findTables(db: Database) {
  return {
    tasks: await hasTable(db, 'tasks'),
    schedules: await hasTable(db, 'schedules'),
    webhooks: await hasTable(db, 'webhooks'),
    calls: await hasTable(db, 'tool_calls'),
  }
}

async function settle(tx: Queries, tables: Tables, { enable_webhooks }: CopyOptions = {}): Promise<Settled> {
  await beginEpoch(tx, tables)
  const mails = tables.tasks ? await tx.run(sql`DELETE FROM tasks WHERE kind IN ('mail.send', 'mail.failed')`) : 0
  // The original does it.
  if (tables.tasks) await tx.run(sql`DELETE FROM tasks WHERE kind IN ('usage.meter', 'title.make')`)
  const webhooks = tables.webhooks && !enable_webhooks ? await disableRestored(tx) : 0
  const stopped = tables.calls ? await stopCopiedAnswers(tx) : { answers: 0, approvals: 0 }
  return { mails, webhooks, ...stopped }
}

async function isMarked(db: Queries): Promise<boolean> {
  return (await db.get(sql`SELECT 1 AS one FROM meta WHERE name = 'copy'`)) !== undefined
}

/**
 * Starts a new event history: positions issued before become invalid, and no new event gets the id of an earlier one. Its
 * backups get a new id, too: as the copy of a database it would delete those of the original, and wait for a backup that
 * the original was making. What was under way does not go on.
 */
export async function renewEpoch(db: Database): Promise<void> {
  const tables = await findTables(db)
  await db.write(async (tx) => {
    await beginEpoch(tx, tables)
    if (tables.calls) await stopCopiedAnswers(tx)
  })
}

async function beginEpoch(tx: Queries, { schedules }: Tables): Promise<void> {
  // A copy from before events had ids: they are the same in each copy.
  await beginHistory(tx)
  await tx.run(sql`UPDATE meta SET value = ${newId()} WHERE name = 'epoch'`)
  await beginHistory(tx)
  await tx.run(sql`DELETE FROM meta WHERE name = 'copy'`)
  if (schedules) await tx.run(sql`DELETE FROM schedules`)
  // The time since the copy was made is no step of a clock.
  await forgetClock(tx)
}
