import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, copyFileSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { dirname } from 'node:path'
import type { Readable } from 'node:stream'
import pg from 'pg'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import type { Log } from '../../lib/context.ts'
import type { Storage } from '../../lib/index.ts'
import { MIGRATIONS } from '../../lib/storage/schema/migrations.ts'
import { type Sql, sql } from '../../lib/storage/sql.ts'
import { start as startProcess } from '../cli/process.ts'
import { checkedFetch } from '../support/answers.ts'
import { createPostgresDatabase, createSqliteFile, describeOnEachDatabase } from '../support/databases.ts'
import { MEMORY } from '../support/memory.ts'
import { type Cluster, startCluster } from '../support/postgres.ts'
import { codeOf, innerState, PASSWORD, startService, startThread, times } from '../support/service.ts'
import { openStream, signInByHand } from '../support/stream.ts'

/** The deadline of a probe: far above its usual time, far below the timeouts of the databases. */
const IN_TIME_MS = 4_000

/** The result of `/readyz`: empty, or the failed checks. `/healthz` is always fine. */
async function probe(base_url: string): Promise<string[]> {
  const asked = performance.now()
  const response = await checkedFetch(`${base_url}/readyz`)
  expect(performance.now() - asked).toBeLessThan(IN_TIME_MS)
  expect((await checkedFetch(`${base_url}/healthz`)).status).toBe(200)
  const body = await response.json()
  if (response.status === 200) {
    expect(body).toMatchObject({
      status: 'ready',
      checks: { database: 'ok', migrations: 'ok', bus: 'ok', clock: 'ok' },
    })
    expect(new Set(Object.values(body.checks))).toEqual(new Set(['ok']))
    return []
  }
  expect(response.status).toBe(503)
  expect(response.headers.get('retry-after')).toBe('1')
  return body.errors.map(({ path }: { path: string }) => path)
}

/** Waits for that result. */
async function waitForFailures(base_url: string, expected: string[]): Promise<void> {
  await expect.poll(() => probe(base_url), { timeout: 15_000, interval: 100 }).toEqual(expected)
}

const lines = () => {
  const seen: string[] = []
  const tell = (message: string) => void seen.push(message)
  const log: Log = { debug: tell, info: tell, warn: tell, error: tell }
  return { log, of: (...messages: string[]) => seen.filter((line) => messages.includes(line)) }
}

describeOnEachDatabase('/readyz', (openUrl) => {
  it('names a pending migration, logs it once, and is ready again afterwards', async () => {
    const { log, of } = lines()
    const service = await startService(await openUrl(), { ports: { log } })
    onTestFinished(() => service.close())
    const { db } = innerState(service)
    const newest = MIGRATIONS.at(-1)!.name
    const row = await db.get<{ id: number; checksum: string }>(sql`SELECT * FROM migrations WHERE name = ${newest}`)
    expect(await probe(service.base_url)).toEqual([])
    await db.write((tx) => tx.run(sql`DELETE FROM migrations WHERE name = ${newest}`))
    expect(await probe(service.base_url)).toEqual(['migrations'])
    expect(await probe(service.base_url)).toEqual(['migrations'])
    await db.write((tx) =>
      tx.run(
        sql`INSERT INTO migrations (id, name, checksum, applied_at) VALUES (${row!.id}, ${newest}, ${row!.checksum}, 1)`,
      ),
    )
    expect(await probe(service.base_url)).toEqual([])
    expect(of('Not ready', 'Ready again')).toEqual(['Not ready', 'Ready again'])
  })

  it('reports a draining service, while it is still answered', async () => {
    const service = await startService(await openUrl())
    onTestFinished(() => service.close())
    service.chat.drain()
    expect(await probe(service.base_url)).toEqual(['draining'])
  })
})

describe('/readyz on SQLite', () => {
  const start = async () => {
    const { url, remove } = await createSqliteFile()
    const service = await startService(url)
    onTestFinished(async () => {
      await service.close()
      await remove()
    })
    return { service, file: url.slice('sqlite:'.length) }
  }

  it.each<[string, (file: string) => () => void]>([
    [
      'was moved away, until it is back',
      (file) => {
        renameSync(file, `${file}.away`)
        return () => renameSync(`${file}.away`, file)
      },
    ],
    [
      'was replaced by a copy, until it is itself again',
      (file) => {
        renameSync(file, `${file}.away`)
        copyFileSync(`${file}.away`, file)
        return () => renameSync(`${file}.away`, file)
      },
    ],
    [
      'is in a folder that was moved away, until it is back',
      (file) => {
        renameSync(dirname(file), `${dirname(file)}.away`)
        return () => renameSync(`${dirname(file)}.away`, dirname(file))
      },
    ],
  ])('names a database whose file %s', async (_, harm) => {
    const { service, file } = await start()
    expect(await probe(service.base_url)).toEqual([])
    const mend = harm(file)
    await waitForFailures(service.base_url, ['database'])
    mend()
    await waitForFailures(service.base_url, [])
    await service.signIn('ada')
  })

  it('names a database whose file was deleted', async () => {
    const { service, file } = await start()
    rmSync(file)
    await waitForFailures(service.base_url, ['database'])
  })

  it('stays ready while another process holds the write lock: reads continue', async () => {
    const { service, file } = await start()
    const ada = await service.signIn('ada')
    const hold = `const db = new (require('better-sqlite3'))(process.argv[1])
      db.exec('BEGIN EXCLUSIVE')
      console.log('locked')
      process.stdin.resume().on('end', () => process.exit())`
    const holder = spawn(process.execPath, ['-e', hold, file], { stdio: ['pipe', 'pipe', 'inherit'] })
    onTestFinished(() => void holder.kill('SIGKILL'))
    await heard(holder.stdout)
    const refused = codeOf(ada.conversations.create())
    expect(await Promise.all(times(3, () => probe(service.base_url)))).toEqual([[], [], []])
    expect((await ada.conversations.list()).conversations).toEqual([])
    expect(await refused).toBe('unavailable')
    holder.stdin.end()
    await once(holder, 'exit')
    await ada.conversations.create()
  })

  it('names a database whose file has become read-only, until it is writable', async ({ skip }) => {
    // Root ignores file modes, so the service runs as another user.
    const [, uid, gid] = /^nobody:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8')) ?? []
    if (process.getuid?.() !== 0 || !uid) return skip('needs root, to run as another user')
    const as = { uid: Number(uid), gid: Number(gid) }
    const look = `fs.accessSync(${JSON.stringify(import.meta.filename)})`
    if (spawnSync(process.execPath, ['-e', look], as).status !== 0)
      return skip('the user nobody cannot read the project')
    const { url, remove } = await createSqliteFile()
    onTestFinished(remove)
    const file = url.slice('sqlite:'.length)
    chownSync(dirname(file), as.uid, as.gid)
    const child = startProcess(['serve', '--port', '0', '--database', url, '--json'], {
      cwd: dirname(file),
      ...as,
    })
    const { url: base_url } = JSON.parse(await heard(child.stdout))
    expect(await probe(base_url)).toEqual([])
    for (const mode of [0o400, 0o000]) {
      chmodSync(file, mode)
      await waitForFailures(base_url, ['database'])
      chmodSync(file, 0o600)
      await waitForFailures(base_url, [])
    }
  })
})

describe.skipIf(!inject('postgres_url'))('/readyz on PostgreSQL', () => {
  it('names the database while the server is stopped, and is ready once it is back', async () => {
    const cluster = (await startCluster(MEMORY))!
    onTestFinished(() => cluster.stop())
    const service = await startService(cluster.url)
    onTestFinished(() => service.close())
    expect(await probe(service.base_url)).toEqual([])
    await cluster.restart(async () => {
      expect(await probe(service.base_url)).toContain('database')
    })
    await waitForFailures(service.base_url, [])
    await service.signIn('ada')
  })

  /** Two nodes on a database, and a connection of an operator. `isDeaf` keeps the first from reading signals. */
  async function startPair() {
    const database = await createPostgresDatabase()
    onTestFinished(() => database.remove())
    const { log, of } = lines()
    const unresponsive = { is: false }
    const wrap = (storage: Storage): Storage => {
      const hearing = <T extends 'all' | 'get'>(name: T) =>
        (async (sql: Sql) => {
          if (unresponsive.is && /\bsignals\b/.test(sql.text)) throw new Error('no signals')
          return storage.db[name](sql)
        }) as Storage['db'][T]
      return { ...storage, db: { ...storage.db, all: hearing('all'), get: hearing('get') } }
    }
    const one = await startService(database.url, { ports: { log }, wrap })
    onTestFinished(() => one.close())
    const two = await startService(database.url)
    onTestFinished(() => two.close())
    const admin = new pg.Client({ connectionString: database.url })
    await admin.connect()
    onTestFinished(() => admin.end())
    await expect.poll(() => [one, two].every(({ chat }) => !innerState(chat).cluster.isSingleNode())).toBe(true)
    return { one, two, admin, unresponsive, of }
  }

  it('names the exchange with other processes while another one hears, and this one does not', async () => {
    const { one, two, unresponsive, of } = await startPair()
    unresponsive.is = true
    await waitForFailures(one.base_url, ['bus'])
    expect(await probe(two.base_url)).toEqual([])
    unresponsive.is = false
    await waitForFailures(one.base_url, [])
    expect(of('Other processes cannot be heard')).toHaveLength(1)
  })

  it.each([
    ['signals', 'ALTER TABLE signals RENAME TO away', 'ALTER TABLE away RENAME TO signals'],
    ['nodes', 'BEGIN; LOCK TABLE nodes IN ACCESS EXCLUSIVE MODE', 'COMMIT'],
  ])('stays ready while no process hears, as %s cannot be read', async (_, harm, mend) => {
    const { one, two, admin } = await startPair()
    await admin.query(harm)
    // Longer than notes of others count.
    await expect
      .poll(
        async () => {
          expect([await probe(one.base_url), await probe(two.base_url)]).toEqual([[], []])
          return [one, two].every(
            ({ chat }) => innerState(chat).cluster.isLate() && innerState(chat).cluster.age() > 6_000,
          )
        },
        { timeout: 60_000, interval: 100 },
      )
      .toBe(true)
    await admin.query(mend)
    await expect
      .poll(() => [one, two].some(({ chat }) => innerState(chat).cluster.isLate()), { timeout: 30_000 })
      .toBe(false)
  })

  it('stays ready, and delivers what others commit, while the sessions are locked', async () => {
    const { one, two, admin } = await startPair()
    const { ada, conversation_id, root } = await startThread(one)
    const { cookie } = await signInByHand(one.base_url, ada.email, PASSWORD)
    const stream = await openStream(one.base_url, conversation_id, { cookie: cookie! })
    onTestFinished(() => stream.close())
    await stream.until('stream.ready')
    await admin.query('BEGIN; LOCK TABLE sessions IN ACCESS EXCLUSIVE MODE')
    const actor = await two.chat.users.actor(ada.id)
    for (const n of times(8, (index) => index)) {
      await two.chat.messages.reply(actor, root.message_id, { content: `while it is locked ${n}` })
      await stream.until('message.new')
      expect([await probe(one.base_url), await probe(two.base_url)]).toEqual([[], []])
    }
    await admin.query('COMMIT')
  })

  it('does not report a busy event loop as a failure of the database', async () => {
    const cluster = (await startCluster(MEMORY))!
    onTestFinished(() => cluster.stop())
    const service = await startService(cluster.url)
    onTestFinished(() => service.close())
    const answer = service.chat.ops.readiness()
    const until = performance.now() + 2_000
    while (performance.now() < until);
    expect(await answer).toMatchObject({ status: 'ready' })
  })

  it('responds in time while the server sends nothing, and is ready once it does', async () => {
    const cluster = (await startCluster(MEMORY))!
    onTestFinished(() => cluster.stop())
    const way = await startWay(cluster)
    const service = await startService(way.url)
    onTestFinished(() => service.close())
    expect(await probe(service.base_url)).toEqual([])
    way.block()
    for (let round = 0; round < 3; round++) {
      const probes = await Promise.all(times(4, () => probe(service.base_url)))
      for (const failing of probes) expect(failing).toContain('database')
    }
    way.open()
    await waitForFailures(service.base_url, [])
    await service.signIn('ada')
  })
})

/** A network between the service and its database, which can drop everything silently. */
async function startWay(cluster: Cluster) {
  const sockets = new Set<Socket>()
  let blocked = false
  const server = createServer((near) => {
    const far = connect(`${new URL(cluster.url).searchParams.get('host')}/.s.PGSQL.5432`)
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
      if (blocked) socket.pause()
    }
    near.on('data', (bytes) => far.write(bytes)).on('close', () => far.destroy())
    far.on('data', (bytes) => near.write(bytes)).on('close', () => near.destroy())
    if (blocked) for (const socket of [near, far]) socket.pause()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const { port } = server.address() as { port: number }
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    block() {
      blocked = true
      for (const socket of sockets) socket.pause()
    },
    open() {
      blocked = false
      for (const socket of sockets) socket.resume()
    },
  }
}

async function heard(output: Readable): Promise<string> {
  const [text] = await once(output, 'data')
  return String(text)
}
