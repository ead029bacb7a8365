import { randomBytes } from 'node:crypto'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, describe, inject } from 'vitest'
import { MEMORY } from './memory.ts'
import { IS_PLACED, IS_POOLED } from './placement.ts'
import { assertNothingLeft } from './pooled.ts'

/** The databases on which everything that stores data must work. */
export type Dialect = 'sqlite' | 'postgresql'

/** A new database for a test: its URL, and a function that removes it. */
export interface FreshDatabase {
  url: string
  remove(): Promise<void>
}

/** Returns the URL of a new database. @param from the URL of the one to copy, which nothing has open; else of the template */
type OpenUrl = (from?: string) => Promise<string>

type Suite = (openUrl: OpenUrl, dialect: Dialect) => void

/**
 * Describes the same behaviour for SQLite and for PostgreSQL, which is skipped if it is not installed.
 *
 * Each call of `openUrl` returns the URL of a new database with the whole schema and no row; all are removed at the end
 * of the suite, so a test must close what it opens.
 */
export function describeOnEachDatabase(title: string, suite: Suite): void {
  describeOn({ sqlite: copySqliteFile, postgresql: copyPostgresDatabase }, title, suite)
}

/** The same with databases without a schema, for tests of migrations. */
export function describeOnEachEmptyDatabase(title: string, suite: Suite): void {
  describeOn({ sqlite: createSqliteFile, postgresql: createPostgresDatabase }, title, suite)
}

/**
 * Cases that are refused or answered before any row but that of the session is looked up, by the spelling, the method, the
 * body, the origin or a missing session: on one of the databases that is enough.
 */
export function withoutRows<T>(dialect: Dialect, cases: readonly T[]): readonly T[] {
  return dialect === 'sqlite' || IS_POOLED ? cases : []
}

type Creators = Record<Dialect, (from?: string) => Promise<FreshDatabase>>

function describeOn(creators: Creators, title: string, suite: Suite): void {
  for (const dialect of ['sqlite', 'postgresql'] as const) {
    describe.skipIf(!isAvailable(dialect))(`${title} (${dialect})`, () => {
      const created: FreshDatabase[] = []
      afterAll(async () => {
        await Promise.all(created.map((database) => database.remove()))
      })
      suite(async (from) => {
        const database = await creators[dialect](from)
        created.push(database)
        return database.url
      }, dialect)
    })
  }
}

/** Behind PgBouncer, SQLite would be the same as without. */
function isAvailable(dialect: Dialect): boolean {
  return dialect === 'sqlite' ? !IS_POOLED : inject('postgres_url') !== null
}

/** A new SQLite database that does not exist yet, in its own folder. */
export async function createSqliteFile(): Promise<FreshDatabase> {
  const folder = await mkdtemp(join(MEMORY, 'chat-sqlite-'))
  return {
    url: `sqlite:${join(folder, 'chat.db')}`,
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

const fileOf = (url: string) => url.slice('sqlite:'.length)

async function copySqliteFile(from?: string): Promise<FreshDatabase> {
  const database = await createSqliteFile()
  // The start of a service then makes the tables under their names.
  const template = from ? fileOf(from) : IS_PLACED ? undefined : inject('templates').sqlite
  if (template) await copyFile(template, fileOf(database.url))
  return database
}

/** A new empty PostgreSQL database in the cluster of this run. */
export function createPostgresDatabase(): Promise<FreshDatabase> {
  return createFrom('template1')
}

/** A new PostgreSQL database with the whole schema and no row. */
export function copyPostgresDatabase(from?: string): Promise<FreshDatabase> {
  if (from) return createFrom(new URL(from).pathname.slice(1))
  return createFrom(IS_PLACED ? 'template1' : inject('templates').postgresql)
}

async function createFrom(template: string): Promise<FreshDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`
  await onServer(`CREATE DATABASE ${name} TEMPLATE ${template}`)
  const url = withPath(serviceUrl(), name)
  return {
    url,
    async remove() {
      if (IS_POOLED) await assertNothingLeft(url)
      await onServer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
    },
  }
}

async function onServer(sql: string): Promise<void> {
  const client = new Client({ connectionString: serverUrl() })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

function withPath(url: string, pathname: string): string {
  return Object.assign(new URL(url), { pathname }).href
}

/** The URL of the same database for a test that needs the server itself, also in a run whose services have a pooler. */
export function directUrl(url: string): string {
  return IS_POOLED ? withPath(serverUrl(), new URL(url).pathname) : url
}

function serverUrl(): string {
  const url = inject('postgres_url')
  if (!url) throw new Error('PostgreSQL is not installed: use describeOnEachDatabase, which then skips')
  return url
}

/** How services and tests reach a database of the server. */
function serviceUrl(): string {
  if (!IS_POOLED) return serverUrl()
  const url = inject('pooled_url')
  if (!url) throw new Error('No pooler has been started: run a part of test/parts.ts that is behind one')
  return url
}
