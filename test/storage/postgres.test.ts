import { inspect } from 'node:util'
import { createDatabase } from 'db0'
import pg from 'pg'
import { beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import type { Database, Queries } from '../../lib/storage/database.ts'
import { openStorage } from '../../lib/storage/open.ts'
import { postgresConnector } from '../../lib/storage/postgres/connector.ts'
import { createPostgresDatabase } from '../../lib/storage/postgres/database.ts'
import type { PgPool } from '../../lib/storage/postgres/pool.ts'
import { createConnections } from '../../lib/storage/postgres/servers.ts'
import { createStatements } from '../../lib/storage/postgres/statements.ts'
import { createTransactions } from '../../lib/storage/postgres/transaction.ts'
import { createHalfOpenWatchdog } from '../../lib/storage/postgres/watchdog.ts'
import { sql, statement } from '../../lib/storage/sql.ts'
import { startProxy } from '../fault/storage/proxy.ts'
import { MEMORY } from '../support/memory.ts'
import { type Cluster, startCluster } from '../support/postgres.ts'
import { codeOf, times } from '../support/service.ts'
import { promised } from './handles.ts'

const INSERT = 'INSERT INTO items (id) VALUES (?)'

describe.skipIf(!inject('postgres_url'))('PostgreSQL', () => {
  let cluster: Cluster
  let admin: pg.Pool
  let databases = 0
  beforeAll(async () => {
    cluster = (await startCluster(MEMORY))!
    admin = new pg.Pool({ connectionString: cluster.url, max: 2 })
    admin.on('error', () => {})
    return async () => {
      await admin.end()
      await cluster.stop()
    }
  })

  describe('a connection that the server ends', () => {
    it('is replaced when it was idle', async () => {
      const { db, pool, ended } = await openItems()
      await db.get(sql`SELECT 1`)
      expect(pool.idleCount).toBe(1)
      const gone = new Promise<void>((resolve) => pool.once('remove', () => resolve()))
      await endBackends(ended)
      await gone
      expect(await db.write((tx) => tx.run(statement(INSERT, [1])))).toBe(1)
    })

    it.each<[string, (db: Database) => Promise<unknown>]>([
      ['a query', (db) => db.get(sql`SELECT pg_sleep(60)`)],
      [
        'a write',
        (db) => db.write((tx) => tx.run(statement(INSERT, [1])).then(() => tx.get(sql`SELECT pg_sleep(60)`))),
      ],
      ['a snapshot', (db) => db.snapshot((snapshot) => snapshot.get(sql`SELECT pg_sleep(60)`))],
    ])('fails %s that runs on it, and nothing later', async (_, use) => {
      const { db, ended } = await openItems()
      const code = codeOf(use(db))
      await waitForRow(
        "SELECT count(*) AS n FROM pg_stat_activity WHERE datname = $1 AND query LIKE 'SELECT pg_sl%'",
        ended,
      )
      await endBackends(ended)
      expect(await code).toBe('unavailable')
      expect(await countItems(db)).toBe(0)
      await db.write((tx) => tx.run(statement(INSERT, [2])))
    })

    it('fails a write between two statements', async () => {
      const { db, ended } = await openItems()
      const [begun, finish] = [promised(), promised()]
      const code = codeOf(
        db.write(async (tx) => {
          await tx.run(statement(INSERT, [1]))
          begun.resolve()
          await finish.promise
          await tx.run(statement(INSERT, [2]))
        }),
      )
      await begun.promise
      await endBackends(ended)
      finish.resolve()
      expect(await code).toBe('unavailable')
      expect(await countItems(db)).toBe(0)
    })

    it('fails a write whose only statement is the commit', async () => {
      const { db, ended } = await openItems()
      const write = db.write(async (tx) => {
        await tx.run(statement(INSERT, [1]))
        await endBackends(ended)
      })
      expect(await codeOf(write)).toBe('unavailable')
      expect(await countItems(db)).toBe(0)
    })
  })

  it('is unavailable while the server is down, and works once it is up again', async () => {
    const { db } = await openItems()
    const [begun, finish] = [promised(), promised()]
    const under_way = codeOf(
      db.write(async (tx) => {
        await tx.run(statement(INSERT, [1]))
        begun.resolve()
        await finish.promise
        await tx.run(statement(INSERT, [2]))
      }),
    )
    await begun.promise
    await cluster.restart(async () => {
      const calls = [
        db.get(sql`SELECT 1`),
        db.write((tx) => tx.run(statement(INSERT, [3]))),
        db.snapshot(countItems),
        db.changeToken(),
      ]
      expect(await Promise.all(calls.map(codeOf))).toEqual(times(4, () => 'unavailable'))
      finish.resolve()
      expect(await under_way).toBe('unavailable')
    })
    expect(await countItems(db)).toBe(0)
    await db.write((tx) => tx.run(statement(INSERT, [4])))
  })

  describe('a transaction that the server aborts', () => {
    it('runs again after a deadlock', async () => {
      const { db } = await openItems('-c deadlock_timeout=10ms')
      await db.run(sql`INSERT INTO items (id) VALUES (1), (2)`)
      const locked = [promised(), promised()] as const
      let attempts = 0
      const addIn = (order: [number, number], mine: 0 | 1) =>
        db.write(async (tx) => {
          attempts++
          await tx.run(sql`UPDATE items SET amount = amount + 1 WHERE id = ${order[0]}`)
          locked[mine].resolve()
          await locked[1 - mine]!.promise
          await tx.run(sql`UPDATE items SET amount = amount + 1 WHERE id = ${order[1]}`)
        })
      await Promise.all([addIn([1, 2], 0), addIn([2, 1], 1)])
      expect(attempts).toBeGreaterThan(2)
      expect(await db.all(sql`SELECT amount FROM items`)).toEqual([{ amount: 2 }, { amount: 2 }])
    })

    it('runs a limited number of times', async () => {
      const { db } = await openItems()
      let attempts = 0
      const write = db.write(async (tx) => {
        attempts++
        await tx.run(sql`DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40001'; END $$`)
      })
      expect(await codeOf(write)).toBe('unavailable')
      expect(attempts).toBe(4)
    })

    it.each([
      ['a broken constraint', '23505'],
      ['a full disk', '53100'],
      ['a standby', '25006'],
    ])('does not run again after %s', async (_, sqlstate) => {
      const { db } = await openItems()
      let attempts = 0
      const write = db.write(async (tx) => {
        attempts++
        await tx.run(statement(`DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '${sqlstate}'; END $$`))
      })
      const codes: Record<string, string> = { 53100: 'unavailable', 25006: 'unavailable' }
      expect(await codeOf(write)).toBe(codes[sqlstate] ?? sqlstate)
      expect(attempts).toBe(1)
    })

    it('is not acknowledged when the work ignores the failed statement', async () => {
      const { db } = await openItems()
      const write = db.write(async (tx) => {
        await tx.run(statement(INSERT, [1]))
        await tx.run(statement(INSERT, [1])).catch(() => {})
      })
      expect(await codeOf(write)).toBe('23505')
      expect(await countItems(db)).toBe(0)
    })
  })

  it('sends no statement after a ROLLBACK', async () => {
    const { db } = await openItems()
    let straggler: Promise<unknown> | undefined
    const write = db.write(async (tx) => {
      // Its result arrives before that of ROLLBACK.
      straggler = tx
        .get(sql`SELECT 1`)
        .then(() => tx.run(statement(INSERT, [1])))
        .catch(String)
      throw new Error('refused')
    })
    await expect(write).rejects.toThrow('refused')
    expect(await straggler).toMatch('The transaction is over')
    expect(await countItems(db)).toBe(0)
  })

  it('sends no statement after a BEGIN that fails', async () => {
    const { db, pool } = await openItems()
    const watchdog = createHalfOpenWatchdog(async () => [])
    onTestFinished(watchdog.close)
    const transaction = createTransactions(
      createConnections(pool as never),
      watchdog,
      createStatements(watchdog, undefined),
      undefined,
    )
    const write = transaction('BEGIN ISOLATION LEVEL NONE', async (tx) => {
      await tx.get(sql`SELECT 1`)
      await tx.run(statement(INSERT, [1])).catch(() => {})
      await tx.run(statement(INSERT, [2]))
    })
    expect(await codeOf(write)).toBe('42601')
    expect(await countItems(db)).toBe(0)
  })

  it('is unavailable when no connection becomes free, and works when one does', async () => {
    const { db, pool } = await openItems()
    Object.assign(pool.options, { max: 1, connectionTimeoutMillis: 50 })
    const [begun, finish] = [promised(), promised()]
    const slow = db.write(async (tx) => {
      begun.resolve()
      await finish.promise
      return tx.run(statement(INSERT, [1]))
    })
    await begun.promise
    const calls = [db.get(sql`SELECT 1`), db.write((tx) => tx.run(statement(INSERT, [2]))), db.snapshot(countItems)]
    expect(await Promise.all(calls.map(codeOf))).toEqual(times(3, () => 'unavailable'))
    finish.resolve()
    expect(await slow).toBe(1)
    expect(await countItems(db)).toBe(1)
  })

  it('closes dead connections once the server responds again, and no slow ones', {
    timeout: 60_000,
  }, async () => {
    const proxy = await startProxy(await newDatabase())
    const { db } = await openStorage({ database: proxy.url, strict: true })
    onTestFinished(() => db.close().then(proxy.close))
    await Promise.all(times(9, () => db.get(sql`SELECT pg_sleep(0.2)::text`)))
    proxy.hold()
    const calls = [
      ...times(4, () => db.get(sql`SELECT 1`)),
      ...times(4, () => db.write((tx) => tx.get(sql`SELECT 1`))),
      db.changeToken(),
    ]
    const codes = Promise.all(calls.map(codeOf))
    proxy.lose()
    const back = performance.now()
    const slow = db.get(sql`SELECT pg_sleep(8)::text AS slept`)
    expect(await codes).toEqual(times(9, () => 'unavailable'))
    // Without the check they would have waited for 12 s.
    expect(performance.now() - back).toBeLessThan(10_000)
    expect(await slow).toEqual({ slept: '' })
  })

  it('has no timeout only for work that may take long', async () => {
    const { db } = await openItems()
    const limits = (tx: Queries) =>
      tx.get(sql`SELECT current_setting('statement_timeout') AS statement, current_setting('lock_timeout') AS lock`)
    for (const run of [db.write, db.snapshot]) {
      expect(await run(limits)).toEqual({ statement: '10s', lock: '5s' })
      expect(await run(limits, { timeout: false })).toEqual({ statement: '0', lock: '0' })
    }
    expect(await limits(db)).toEqual({ statement: '10s', lock: '5s' })
  })

  it('waits for the disk, unless a write says that it need not', async () => {
    const { db } = await openItems()
    const settingIn = (options?: { durable: false }) =>
      db.write((tx) => tx.get(sql`SELECT current_setting('synchronous_commit') AS value`), options)
    expect([await settingIn({ durable: false }), await settingIn()]).toEqual([{ value: 'off' }, { value: 'on' }])
  })

  it('serves two storages on one pool', async () => {
    const { pool } = await openItems()
    const [one, two] = [createPostgresDatabase(pool), createPostgresDatabase(pool)]
    expect([await one.get(sql`SELECT 1 AS one`), await two.get(sql`SELECT 2 AS two`)]).toEqual([{ one: 1 }, { two: 2 }])
  })

  it('does not change the types of other pools', async () => {
    await openItems()
    expect((await admin.query('SELECT 1::int8 AS n')).rows).toEqual([{ n: '1' }])
  })

  describe('a server that may lose acknowledged writes', () => {
    it('is refused with fsync = off, unless configured', async () => {
      const url = await newDatabase()
      await setEverywhere('fsync', 'off')
      await expect(openStorage({ database: url })).rejects.toThrow(/fsync = off.*storage\.durability/)
      await (await openStorage({ database: url, durability: 'os' })).close()
      await setEverywhere('fsync', 'on')
      await (await openStorage({ database: url })).close()
    })

    it('is refused with synchronous_commit = off, unless configured', async () => {
      const url = await newDatabase('-c synchronous_commit=off')
      await expect(openStorage({ database: url })).rejects.toThrow(/synchronous_commit = off/)
      await (await openStorage({ database: url, durability: 'os' })).close()
    })
  })

  describe('a connection error never contains the password', () => {
    it.each([
      ['no server listens', { search: '?host=127.0.0.1' }],
      ['there is no socket', { search: '?host=/nowhere' }],
      ['there is no database', { pathname: '/nothing' }],
      ['the password is wrong', { username: 'guarded' }],
    ])('when %s', async (_, invalid) => {
      await guard()
      const url = Object.assign(new URL(cluster.url), { password: 'hunter2' }, invalid)
      expect(await errorText(url.href)).not.toContain('hunter2')
    })

    it.each([
      'postgres://chat:hunter2@[/chat',
      'postgres://chat:hunter2@db:port/chat',
      'postgres://c:hun%ter2@db/chat',
    ])('when the URL is %s', async (url) => {
      expect(await errorText(url)).not.toMatch(/hun(%|ter2)/)
    })
  })

  /** All texts of an error, with its causes and hidden properties. */
  async function errorText(url: string): Promise<string> {
    const error = await openStorage({ database: url }).then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(error).toBeInstanceOf(Error)
    return inspect(error, { depth: Number.POSITIVE_INFINITY, showHidden: true })
  }

  async function newDatabase(options = ''): Promise<string> {
    const name = `items_${++databases}`
    await admin.query(`CREATE DATABASE ${name}`)
    const url = new URL(cluster.databaseUrl(name))
    if (options) url.searchParams.set('options', options)
    return url.href
  }

  /** A database with the table, and its connection pool. `ended` is its name on the server. */
  async function openItems(options = '') {
    const url = await newDatabase(options)
    const db0 = createDatabase(postgresConnector({ url }))
    const { db } = await openStorage({ database: db0, strict: true })
    onTestFinished(() => db.close())
    await db.run(sql`CREATE TABLE items (id BIGINT PRIMARY KEY, amount BIGINT NOT NULL DEFAULT 0)`)
    return { db, pool: (await db0.getInstance()) as unknown as pg.Pool & PgPool, ended: `items_${databases}` }
  }

  async function endBackends(database: string): Promise<void> {
    await admin.query('SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1', [database])
  }

  async function waitForRow(query: string, ...params: string[]): Promise<void> {
    while (Number((await admin.query(query, params)).rows[0].n) === 0);
  }

  /** Changes a setting of the running server. */
  async function setEverywhere(setting: string, value: string): Promise<void> {
    await admin.query(`ALTER SYSTEM SET ${setting} = ${value}`)
    await admin.query('SELECT pg_reload_conf()')
    await waitForRow(`SELECT count(*) AS n FROM pg_settings WHERE name = '${setting}' AND setting = '${value}'`)
  }

  /** Requires a password for the user `guarded`. */
  async function guard(): Promise<void> {
    const { rows } = await admin.query("SELECT 1 FROM pg_roles WHERE rolname = 'guarded'")
    if (rows.length > 0) return
    await admin.query("CREATE ROLE guarded LOGIN PASSWORD 'another'")
    const { rows: files } = await admin.query('SHOW hba_file')
    const lines = "('local all guarded scram-sha-256'), ('local all all trust')"
    await admin.query(`COPY (VALUES ${lines}) TO '${files[0].hba_file}'`)
    await admin.query('SELECT pg_reload_conf()')
    await waitForRow('SELECT count(*) AS n FROM pg_hba_file_rules WHERE auth_method = $1', 'scram-sha-256')
  }
})

async function countItems(db: Queries): Promise<number> {
  return (await db.get<{ n: number }>(sql`SELECT count(*) AS n FROM items`))!.n
}
