import { randomBytes } from 'node:crypto'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, describe, inject } from 'vitest'
import { MEMORY } from './memory.ts'

/** The databases that everything which keeps data has to work on. */
export type Dialect = 'sqlite' | 'postgresql'

/** What a test needs to open a database of its own: a URL, and what removes it again. */
export interface FreshDatabase {
  url: string
  remove(): Promise<void>
}

type Suite = (openUrl: () => Promise<string>, dialect: Dialect) => void

/**
 * Describes the same behaviour once for SQLite and once for PostgreSQL, which is skipped where it is not installed.
 *
 * `openUrl` gives the URL of a new database at each call, which has the whole schema and no row; all are removed when the
 * suite is over, so a test closes what it opens.
 */
export function describeOnEachDatabase(title: string, suite: Suite): void {
  describeOn({ sqlite: copySqliteFile, postgresql: copyPostgresDatabase }, title, suite)
}

/** The same with databases that have no schema yet, for tests of what makes it. */
export function describeOnEachEmptyDatabase(title: string, suite: Suite): void {
  describeOn({ sqlite: createSqliteFile, postgresql: createPostgresDatabase }, title, suite)
}

function describeOn(creators: Record<Dialect, () => Promise<FreshDatabase>>, title: string, suite: Suite): void {
  for (const dialect of ['sqlite', 'postgresql'] as const) {
    describe.skipIf(dialect === 'postgresql' && !inject('postgres_url'))(`${title} (${dialect})`, () => {
      const created: FreshDatabase[] = []
      afterAll(async () => {
        await Promise.all(created.map((database) => database.remove()))
      })
      suite(async () => {
        const database = await creators[dialect]()
        created.push(database)
        return database.url
      }, dialect)
    })
  }
}

/** A SQLite database that does not exist yet, in a folder of its own. */
export async function createSqliteFile(): Promise<FreshDatabase> {
  const folder = await mkdtemp(join(MEMORY, 'chat-sqlite-'))
  return {
    url: `sqlite:${join(folder, 'chat.db')}`,
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

async function copySqliteFile(): Promise<FreshDatabase> {
  const database = await createSqliteFile()
  await copyFile(inject('templates').sqlite, database.url.slice('sqlite:'.length))
  return database
}

/** An empty PostgreSQL database in the cluster of this run. */
export function createPostgresDatabase(): Promise<FreshDatabase> {
  return createFrom('template1')
}

function copyPostgresDatabase(): Promise<FreshDatabase> {
  return createFrom(inject('templates').postgresql)
}

async function createFrom(template: string): Promise<FreshDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`
  await onServer(`CREATE DATABASE ${name} TEMPLATE ${template}`)
  const url = new URL(serverUrl())
  url.pathname = name
  return { url: url.href, remove: () => onServer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) }
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

function serverUrl(): string {
  const url = inject('postgres_url')
  if (!url) throw new Error('PostgreSQL is not installed: use describeOnEachDatabase, which then skips')
  return url
}
