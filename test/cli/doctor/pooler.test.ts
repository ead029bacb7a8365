import { once } from 'node:events'
import { createServer, connect as open, type Socket } from 'node:net'
import { join } from 'node:path'
import { Client } from 'pg'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { judgePooler } from '../../../cli/doctor/pooler.ts'
import { openStorage } from '../../../lib/index.ts'
import { createPostgresDatabase } from '../../support/databases.ts'
import { pgbouncer, startPgBouncer } from '../../support/pgbouncer.ts'
import { folder } from '../process.ts'
import { runDoctor, wrong } from '../run-checks.ts'

const LONG = { timeout: 120_000 }

const why = !inject('postgres_url') ? 'PostgreSQL is not installed' : pgbouncer ? '' : 'PgBouncer is not installed'

describe.skipIf(why)(`a pooler${why && `: skipped, ${why}`}`, () => {
  async function createDatabase() {
    const { url, remove } = await createPostgresDatabase()
    onTestFinished(remove)
    const storage = await openStorage({ database: url })
    await storage.migrate()
    await storage.close()
    return url
  }
  const startPooler = async (...given: Parameters<typeof startPgBouncer>) => {
    const pooler = await startPgBouncer(...given)
    onTestFinished(() => pooler.stop())
    return pooler
  }
  const examine = (url: string, database: object = {}) =>
    runDoctor({ server: { port: 9 }, database: { url, ...database } })

  it.each([true, false])(
    'that is none is reported, with prepared_statements = %s',
    LONG,
    async (prepared_statements) => {
      const found = await examine(await createDatabase(), { prepared_statements })
      expect(wrong(found.values())).toEqual([])
      expect(found.get('database.no_pooler')?.severity).toBe('ok')
    },
  )

  it.each([undefined, 1, 2, 5])(
    'that cannot carry names is found (connections to the server: %s)',
    LONG,
    async (keeps) => {
      const { url } = await startPooler(await createDatabase(), 'transaction', keeps)
      const found = await examine(url)
      expect(wrong(found.values())).toEqual([])
      expect(found.get('database.pooler_without_names')).toMatchObject({
        severity: 'note',
        remedy: 'Set database.prepared_statements = false.',
      })
      // Those to the server are the pooler's.
      expect(found.has('database.connections')).toBe(false)
      const chosen = await examine(url, { prepared_statements: false })
      expect(chosen.get('database.pooler')).toMatchObject({
        severity: 'ok',
        message: expect.stringContaining('sends none'),
      })
    },
  )

  it('reports that a pooler with a connection for each client carries names', LONG, async () => {
    const { url } = await startPooler(await createDatabase(), 'session')
    const found = await examine(url)
    expect(found.get('database.pooler')?.message).toContain('It can carry names of statements')
  })

  it('reports a pooler that looks like the server, by the names that fail', LONG, async () => {
    const pooler = await startPooler(await createDatabase(), 'transaction', 1)
    const url = await disguise(pooler)
    const found = await examine(url)
    expect(wrong(found.values())).toEqual(['database.pooler_without_names'])
    expect(found.get('database.pooler_without_names')).toMatchObject({
      severity: 'error',
      message: expect.stringMatching(
        /which the service sends: calls fail \(prepared statement "[^"]+" already exists\)/,
      ),
      remedy: 'Set database.prepared_statements = false.',
    })
    expect(wrong((await examine(url, { prepared_statements: false })).values())).toEqual([])
  })
})

/** The URL of a pooler with one connection to the server, which reports that one's process id as its own. */
async function disguise({ url, socket }: { url: string; socket: string }): Promise<string> {
  const client = new Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  await client.end()
  const sockets = new Set<Socket>()
  const server = createServer((incoming) => {
    const outgoing = open(socket)
    for (const each of [incoming, outgoing]) {
      sockets.add(each)
      each.on('error', () => {}).on('close', () => sockets.delete(each))
    }
    incoming.pipe(outgoing)
    outgoing.on('data', (bytes) => {
      // BackendKeyData, with its length of 12; a first part that has it has all of it.
      const at = bytes.indexOf(Buffer.from([0x4b, 0, 0, 0, 12]))
      if (at >= 0) bytes.writeInt32BE(rows[0]!.pid, at + 5)
      incoming.write(bytes)
    })
    outgoing.on('end', () => incoming.end())
  })
  const place = folder()
  server.listen(join(place, '.s.PGSQL.5432'))
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    for (const each of sockets) each.destroy()
  })
  const disguised = new URL(url)
  disguised.searchParams.set('host', place)
  return disguised.href
}

it.each([
  [{ is_pooled: false, is_detected: false }, true, 'ok', 'database.no_pooler'],
  [{ is_pooled: true, is_detected: false }, true, 'ok', 'database.pooler'],
  [{ is_pooled: true, is_detected: true }, true, 'ok', 'database.pooler'],
  [{ is_pooled: true, is_detected: true, failure: 'x' }, true, 'note', 'database.pooler_without_names'],
  [{ is_pooled: true, is_detected: false, failure: 'x' }, false, 'ok', 'database.pooler'],
  [{ is_pooled: true, is_detected: false, failure: 'x' }, true, 'error', 'database.pooler_without_names'],
])('judges a pooler: %j with prepared_statements = %s is %s %s', (facts, prepared, severity, code) => {
  expect(judgePooler(facts, prepared)).toMatchObject({ severity, code })
})
