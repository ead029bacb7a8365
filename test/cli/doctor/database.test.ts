import { Client } from 'pg'
import { expect, inject, it, onTestFinished } from 'vitest'
import { judgeDatabase } from '../../../cli/doctor/database.ts'
import { openStorage, parseConfig } from '../../../lib/index.ts'
import { detectDistributed } from '../../../lib/storage/inspect.ts'
import { sql, statement } from '../../../lib/storage/sql.ts'
import { createPostgresDatabase } from '../../support/databases.ts'
import { MEMORY } from '../../support/memory.ts'
import { startCluster } from '../../support/postgres.ts'
import { runDoctor, wrong } from '../run-checks.ts'

const LONG = { timeout: 120_000 }

it('reports a PostgreSQL that may lose or damage data, although the service would not start on it', LONG, async () => {
  const cluster = await startCluster(MEMORY)
  if (!cluster) return console.log('PostgreSQL tests skipped: initdb not found')
  onTestFinished(() => cluster.stop())
  const sql = async (url: string, ...statements: string[]) => {
    const client = new Client({ connectionString: url })
    await client.connect()
    for (const statement of statements) await client.query(statement)
    await client.end()
  }
  const url = cluster.url
  const storage = await openStorage({ database: url })
  await storage.migrate()
  await storage.close()
  const config = { server: { port: 9 }, database: { url } }
  expect(wrong((await runDoctor(config)).values())).toEqual([])

  const off = ['fsync', 'full_page_writes', 'synchronous_commit'].map((name) => `ALTER SYSTEM SET ${name} = off`)
  await sql(url, ...off)
  await cluster.restart()
  const findings = await runDoctor(config)
  const [fsync, commit] = ['database.fsync_off', 'database.synchronous_commit_off']
  expect(wrong(findings.values())).toEqual([fsync, commit, 'database.full_page_writes_off'])
  const chosen = await runDoctor({ ...config, storage: { durability: 'os' } })
  expect([chosen.get(fsync!)?.severity, chosen.get(commit!)?.severity]).toEqual(['note', 'note'])

  const name = new URL(url).pathname.slice(1)
  await sql(url, `ALTER DATABASE "${name}" SET default_transaction_isolation = 'serializable'`)
  const isolated = (await runDoctor(config)).get('database.isolation')
  expect(isolated).toMatchObject({ severity: 'note', message: expect.stringContaining('serializable') })

  await sql(url, "CREATE DATABASE ascii ENCODING 'SQL_ASCII' LOCALE 'C' LOCALE_PROVIDER libc TEMPLATE template0")
  const ascii = await runDoctor({ ...config, database: { url: cluster.databaseUrl('ascii') } })
  expect(wrong(ascii.values())).toEqual(expect.arrayContaining(['database.not_utf8', 'database.empty']))
  await cluster.stop()
  const gone = (await runDoctor(config)).get('database.unusable')
  expect(gone).toMatchObject({ severity: 'error', message: expect.stringContaining('ENOENT') })
})

it.skipIf(!inject('postgres_url'))(
  'reports a PostgreSQL whose clock differs, and one that is read-only',
  LONG,
  async () => {
    const { url, remove } = await createPostgresDatabase()
    onTestFinished(remove)
    const storage = await openStorage({ database: url })
    await storage.migrate()
    const config = { server: { port: 9 }, database: { url } }
    await storage.db.run(sql`CREATE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql
    AS $$ SELECT pg_catalog.clock_timestamp() + interval '1 hour' $$`)
    const name = new URL(url).pathname.slice(1)
    await storage.db.run(statement(`ALTER DATABASE ${name} SET search_path = public, pg_catalog`))
    await storage.db.run(statement(`ALTER DATABASE ${name} SET default_transaction_read_only = on`))
    await storage.close()
    const findings = await runDoctor(config)
    expect(wrong(findings.values())).toEqual(['database.read_only', 'database.clock'])
    expect(findings.get('database.clock')?.message).toMatch(/^Its clock is (1 hour|60 minutes) ahead of/)
  },
)

it('reports a PostgreSQL that is too old', () => {
  const facts = { version: '12.1', version_number: 120_001, settings: {}, read_only: false }
  expect(wrong(judgeDatabase(facts, parseConfig({})))).toEqual(['database.old_version'])
})

it.each([
  ['CockroachDB', 'CockroachDB CCL v24.1.0 (x86_64-pc-linux-gnu, built 2024/05/15 21:28:29, go1.22.2)', false],
  ['YugabyteDB', 'PostgreSQL 15.2-YB-2.25.0.0-b0 on x86_64-pc-linux-gnu, compiled by clang version 17.0.6', false],
  ['Citus', 'PostgreSQL 16.4 on x86_64-pc-linux-gnu, compiled by gcc', true],
] as const)('reports that %s is refused', (name, version, hasCitus) => {
  expect(detectDistributed(version, hasCitus)).toBe(name)
  const facts = { version, distributed: name, settings: {}, read_only: false }
  expect(judgeDatabase(facts, parseConfig({}))).toMatchObject([
    {
      code: 'database.distributed',
      severity: 'error',
      message: expect.stringContaining(name),
      remedy: expect.stringContaining('docs/guides/sizing.md#distributed-sql'),
    },
  ])
})

it.each([
  'PostgreSQL 13.0 on x86_64-pc-linux-gnu, compiled by gcc (GCC) 11.4.0, 64-bit',
  'PostgreSQL 16.4 (Debian 16.4-1.pgdg120+1) on aarch64-unknown-linux-gnu, compiled by gcc, 64-bit',
])('takes the version %j for PostgreSQL', (version) => {
  expect(detectDistributed(version, false)).toBe(undefined)
})

it.skipIf(!inject('postgres_url'))('reports nothing else of a database that is distributed', LONG, async () => {
  const { url, remove } = await createPostgresDatabase()
  onTestFinished(remove)
  const storage = await openStorage({ database: url })
  await storage.db.run(sql`CREATE FUNCTION version() RETURNS text LANGUAGE sql AS $$ SELECT 'CockroachDB CCL v24' $$`)
  const name = new URL(url).pathname.slice(1)
  await storage.db.run(statement(`ALTER DATABASE ${name} SET search_path = public, pg_catalog`))
  await storage.close()
  const findings = await runDoctor({ server: { port: 9 }, database: { url } })
  const codes = [...findings.keys()].filter((code) => code.startsWith('database.'))
  // Whether there is a pooler is found out before, without a look at the database.
  expect([codes, findings.get('stream')?.severity]).toEqual([['database.no_pooler', 'database.distributed'], 'skipped'])
})

it('reports a PostgreSQL with fewer connections than one process may open', async () => {
  const connections = { free: 25, by: 'server' as const, name: '' }
  const facts = { version: '15.8', settings: {}, read_only: false, connections }
  const judge = (pool_size: number, workers = 1) => {
    const found = judgeDatabase(facts, parseConfig({ database: { pool_size }, cluster: { workers } }))
    return found.find(({ code }) => /connections$/.test(code))
  }
  expect(judge(10)).toMatchObject({ code: 'database.connections', message: expect.stringContaining('2 processes') })
  expect(judge(26)).toMatchObject({ code: 'database.few_connections', severity: 'warning' })
  const busy = judgeDatabase({ ...facts, nodes: 4 }, parseConfig({ database: { pool_size: 10 } }))
  expect(busy.find(({ code }) => /connections$/.test(code))).toMatchObject({
    code: 'database.few_connections',
    message: expect.stringContaining('4 nodes are running, and together open up to 40'),
  })
  expect(judge(3, 4)).toMatchObject({ code: 'database.connections', message: expect.stringContaining('for 2 such') })
  expect(judge(10, 3)).toMatchObject({
    code: 'database.few_connections',
    message: expect.stringContaining('3 workers opens up to 30'),
  })
})
