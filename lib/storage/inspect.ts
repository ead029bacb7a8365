import { currentMillis } from '../core/time.ts'
import { hasTable } from './catalog.ts'
import type { Queries } from './database.ts'
import { type ConnectionLimit, findConnectionLimit } from './postgres/connections.ts'
import { sql } from './sql.ts'

/** The properties of a database on which the data depends. */
export interface DatabaseFacts {
  /** In its own format: `3.49.1`, `16.4`. */
  version: string
  /** PostgreSQL's version as an increasing number: 130000 is 13. */
  version_number?: number
  /** A distributed database with PostgreSQL's protocol; nothing else is read from it. */
  distributed?: 'Citus' | 'CockroachDB' | 'YugabyteDB'
  /** Settings that decide what a power cut may lose, and whether text is stored unchanged; by name. */
  settings: Record<string, string>
  /** Whether it accepts no writes: a standby, or configured so. */
  read_only: boolean
  /** PostgreSQL: the connections that all processes of the service together may have. */
  connections?: ConnectionLimit
  /** The processes that serve from this database now, if it has a table of them. */
  nodes?: number
  /** How far its clock is ahead of this process's, plus or minus a round trip. */
  ahead_ms?: number
}

const POSTGRES_SETTINGS = ['fsync', 'synchronous_commit', 'full_page_writes', 'server_encoding']

/** Reads the properties of a database. Nothing is changed. */
export async function inspectDatabase(db: Queries): Promise<DatabaseFacts> {
  return db.dialect === 'sqlite' ? inspectSqlite(db) : inspectPostgres(db)
}

async function inspectSqlite(db: Queries): Promise<DatabaseFacts> {
  const row = await db.get<{ version: string }>(sql`SELECT sqlite_version() AS version`)
  const journal = await db.get<{ journal_mode: string }>(sql`PRAGMA journal_mode`)
  return { version: row!.version, settings: { journal_mode: journal!.journal_mode }, read_only: false }
}

async function inspectPostgres(db: Queries): Promise<DatabaseFacts> {
  const distributed = await findDistributed(db)
  if (distributed) return distributed
  const settings: Record<string, string> = {}
  for (const name of POSTGRES_SETTINGS) settings[name] = (await settingOf(db, name))!
  settings.default_transaction_isolation = await defaultIsolation(db)
  const began = currentMillis()
  const clock = await db.get<{ ms: number }>(sql`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS ms`)
  const between = (began + currentMillis()) / 2
  const connections = await findConnectionLimit(db)
  const nodes = await countNodes(db)
  const standby = await db.get<{ standby: boolean }>(sql`SELECT pg_is_in_recovery() AS standby`)
  return {
    version: (await settingOf(db, 'server_version'))!,
    version_number: Number(await settingOf(db, 'server_version_num')),
    settings,
    read_only: standby!.standby || (await settingOf(db, 'default_transaction_read_only')) === 'on',
    connections,
    ...(nodes !== undefined && { nodes }),
    ahead_ms: Math.round(clock!.ms - between),
  }
}

/** The facts about another database than PostgreSQL, which may lack what is read from that. */
async function findDistributed(db: Queries): Promise<DatabaseFacts | undefined> {
  const { version } = (await db.get<{ version: string }>(sql`SELECT version() AS version`))!
  const isCitus = await db.get(sql`SELECT 1 AS found FROM pg_extension WHERE extname = 'citus'`)
  const distributed = detectDistributed(version, isCitus !== undefined)
  return distributed && { version, distributed, settings: {}, read_only: false }
}

/**
 * The distributed database that a server is, if it is one.
 *
 * @param version what `version()` returns: `CockroachDB CCL v24.1.0 (…)`, `PostgreSQL 15.2-YB-2.25.0.0-b0 on …`
 */
export function detectDistributed(version: string, hasCitus: boolean): DatabaseFacts['distributed'] {
  if (/cockroach/i.test(version)) return 'CockroachDB'
  if (/-YB-|yugabyte/i.test(version)) return 'YugabyteDB'
  return hasCitus ? 'Citus' : undefined
}

/**
 * The processes that serve from a PostgreSQL database now; `undefined` if it has no table of them. A node reports every
 * few seconds; the rows of nodes that have died together stay.
 */
export async function countNodes(db: Queries): Promise<number | undefined> {
  if (!(await hasTable(db, 'nodes'))) return undefined
  const row = await db.get<{ count: number }>(
    sql`SELECT count(*) AS count FROM nodes WHERE beat_at > (extract(epoch FROM clock_timestamp()) - 60) * 1000000`,
  )
  return row!.count
}

/** The default of the role or of the database: connections of the service set another one. */
async function defaultIsolation(db: Queries): Promise<string> {
  const row = await db.get<{ value: string }>(
    sql`SELECT reset_val AS value FROM pg_settings WHERE name = 'default_transaction_isolation'`,
  )
  return row!.value
}

/** @throws Error when a PostgreSQL database cannot store every text */
export async function assertUtf8(db: Queries): Promise<void> {
  if (db.dialect === 'sqlite') return
  const encoding = await settingOf(db, 'server_encoding')
  if (encoding !== 'UTF8')
    throw new Error(
      `The database is in ${encoding}, which cannot store every text: create one with ENCODING 'UTF8', and move the data with "chat-server export" and "import"`,
    )
}

async function settingOf(db: Queries, name: string): Promise<string | undefined> {
  return (await db.get<{ value: string }>(sql`SELECT current_setting(${name}) AS value`))?.value
}
