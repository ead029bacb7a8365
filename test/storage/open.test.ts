import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { createDatabase } from 'db0'
import db0Postgres from 'db0/connectors/postgresql'
import type pg from 'pg'
import { createStorage } from 'unstorage'
import { afterAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import type { Db0Like } from '../../lib/storage/connect.ts'
import { openStorage, type StorageOptions } from '../../lib/storage/open.ts'
import { postgresConnector } from '../../lib/storage/postgres/connector.ts'
import { sql } from '../../lib/storage/sql.ts'
import { createPostgresDatabase, createSqliteFile, type FreshDatabase } from '../support/databases.ts'
import { fileOf, openHandle } from './handles.ts'

const created: FreshDatabase[] = []
afterAll(async () => {
  await Promise.all(created.map((database) => database.remove()))
})

it('leaves a file and the WAL of a process that has died as they are, opened for reading', async () => {
  const [live, dead] = [await createSqliteFile(), await createSqliteFile()]
  created.push(live, dead)
  const storage = await openStorage({ database: live.url })
  await storage.migrate()
  const parts = [fileOf(dead.url), `${fileOf(dead.url)}-wal`] as const
  for (const [n, part] of [fileOf(live.url), `${fileOf(live.url)}-wal`].entries()) copyFileSync(part, parts[n]!)
  await storage.close()
  const before = parts.map((part) => readFileSync(part))

  const reading = await openStorage({ database: dead.url, read_only: true })
  expect((await reading.migrations()).every((step) => step.applied_at)).toBe(true)
  expect(await reading.migrate()).toEqual([])
  await reading.close()
  expect(parts.map((part) => readFileSync(part))).toEqual(before)
})

describe('openStorage refuses', () => {
  it.each([
    '',
    'sqlite',
    'sqlite:',
    './chat.db',
    '/chat.db',
    'file:chat.db',
    'sqlite3:chat.db',
    'postgres:/chat',
    'Sqlite:x',
  ])('the URL %j', async (database) => {
    await expect(openStorage({ database })).rejects.toThrow('must start with sqlite: or postgres://')
  })

  it('a URL of another kind without repeating its password', async () => {
    const refused = openStorage({ database: 'mysql://root:hunter2@db/chat' })
    await expect(refused).rejects.toThrow('must start with')
    await expect(refused).rejects.not.toThrow('hunter2')
  })

  it.each<[string, Db0Like]>([
    ['of another kind', { dialect: 'mysql', getInstance: async () => ({}) }],
    ['without a connection', { dialect: 'sqlite', getInstance: async () => undefined }],
    // The dialect name of sqlite3 and of Cloudflare's databases.
    ['that calls back', asynchronous({ get: () => ({}) })],
    ['that promises', asynchronous({ first: async () => ({ one: 1 }) })],
  ])('a database of db0 %s', async (_, database) => {
    await expect(openStorage({ database })).rejects.toThrow('This db0 database is not supported: use')
  })

  it.skipIf(!inject('postgres_url'))('the PostgreSQL of db0, which has a single connection', async () => {
    const { url } = await fresh(createPostgresDatabase())
    const database = createDatabase(db0Postgres({ connectionString: url }))
    await expect(openStorage({ database })).rejects.toThrow('postgresConnector of chat-server')
    await ((await database.getInstance()) as pg.Client).end()
  })

  it.skipIf(!existsSync('/proc/self/fd'))('a file that cannot have a WAL, and closes it', async () => {
    await expect(openStorage({ database: 'sqlite:/dev/full' })).rejects.toThrow('/dev/full')
    const open = readdirSync('/proc/self/fd').flatMap((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`)
      } catch {
        // The descriptor with which the folder is read.
        return []
      }
    })
    expect(open).not.toContain('/dev/full')
  })

  it('a file that is not a database, and leaves it unchanged', async () => {
    const { url } = await fresh(createSqliteFile())
    writeFileSync(fileOf(url), 'Dear diary, '.repeat(1_000))
    await expect(openStorage({ database: url })).rejects.toThrow('file is not a database')
    expect(readFileSync(fileOf(url), 'utf8')).toBe('Dear diary, '.repeat(1_000))
  })

  it.each([
    ['empty', (file: string) => writeFileSync(file, '')],
    ['gone', (file: string) => rmSync(file)],
  ])(
    'a database that is %s while its last commits are in a file next to it, and leaves those unchanged',
    async (_, lose) => {
      const { url } = await fresh(createSqliteFile())
      const file = fileOf(url)
      const { db } = await opened({ database: url })
      await db.run(sql`CREATE TABLE items (id INTEGER)`)
      const copy = join(dirname(file), 'copy.db')
      for (const end of ['', '-wal']) copyFileSync(file + end, copy + end)
      lose(copy)
      await expect(openStorage({ database: `sqlite:${copy}` })).rejects.toThrow(
        /is empty or gone, and .*-wal has commits/,
      )
      expect(readFileSync(`${copy}-wal`)).toEqual(readFileSync(`${file}-wal`))
    },
  )

  it('a folder', async () => {
    const { url } = await fresh(createSqliteFile())
    await expect(openStorage({ database: `sqlite:${dirname(fileOf(url))}` })).rejects.toThrow(
      /is a folder, not a database/,
    )
  })
})

describe('openStorage takes', () => {
  it('a database in memory, a new one each time', async () => {
    const [one, two] = [await opened({ database: 'sqlite::memory:' }), await opened({ database: 'sqlite::memory:' })]
    await one.db.run(sql`CREATE TABLE items (id INTEGER)`)
    await expect(two.db.get(sql`SELECT id FROM items`)).rejects.toThrow('items')
  })

  it('any name of a file, in folders that it creates', async () => {
    const { url } = await fresh(createSqliteFile())
    const file = join(dirname(fileOf(url)), 'new folder', 'a?b#c%20:d é.db')
    await opened({ database: `sqlite:${file}` })
    expect(statSync(file).isFile()).toBe(true)
  })

  it('a SQLite connection of the host, and configures it', async () => {
    const { url } = await fresh(createSqliteFile())
    const handle = await openHandle(fileOf(url))
    const { db } = await opened({ database: { dialect: 'sqlite', getInstance: async () => handle } })
    expect(await db.get(sql`PRAGMA journal_mode`)).toEqual({ journal_mode: 'wal' })
    expect(await db.get(sql`PRAGMA synchronous`)).toEqual({ synchronous: 2 })
  })

  it.skipIf(!inject('postgres_url'))('our PostgreSQL connector in db0', async () => {
    const { url } = await fresh(createPostgresDatabase())
    const database = createDatabase(postgresConnector({ url, max: 2 }))
    const { db } = await opened({ database })
    expect(await db.get(sql`SELECT 1::int8 AS one`)).toEqual({ one: 1 })
    // db0's own methods work on it, too.
    expect(await database.prepare('SELECT ? || ? AS text').bind('a', 'b').get()).toEqual({ text: 'ab' })
    expect(await database.sql`SELECT ${'a'} AS text`).toMatchObject({ rows: [{ text: 'a' }] })
    await expect(database.exec('SELECT nothing')).rejects.toThrow('nothing')
  })

  it('a key-value storage of the host', async () => {
    const kv = createStorage()
    const storage = await opened({ database: 'sqlite::memory:', kv })
    await storage.kv.set('key', 1, 60)
    expect(await kv.getKeys()).toHaveLength(1)
    expect(await storage.kv.get('key')).toBe(1)
  })
})

it('creates nothing in the database', async () => {
  const { db } = await opened({ database: (await fresh(createSqliteFile())).url })
  expect(await db.all(sql`SELECT name FROM sqlite_master`)).toEqual([])
})

function asynchronous(statement: object): Db0Like {
  const handle = { exec: async () => {}, prepare: () => statement, close: () => {} }
  return { dialect: 'sqlite', getInstance: async () => handle }
}

async function fresh(creating: Promise<FreshDatabase>): Promise<FreshDatabase> {
  created.push(await creating)
  return created.at(-1)!
}

async function opened(options: StorageOptions) {
  const storage = await openStorage({ strict: true, ...options })
  onTestFinished(() => storage.close())
  return storage
}
