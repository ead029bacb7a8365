import { beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import type { ChatError } from '../../lib/index.ts'
import { sql } from '../../lib/storage/sql.ts'
import { type RoleCluster, type RoleDatabase, startRoleCluster } from '../support/postgres-roles.ts'
import { innerState, startService, startThread, type TestService } from '../support/service.ts'

const LONG = { timeout: 120_000 }

/** Far above the longest pause that these tests bring about. */
const SOON = { timeout: 60_000, interval: 200 }

interface Harm {
  code: string
  /** Statements of an operator in another database, with the name of this one. */
  harm: string[]
  mend: string[]
}

const HARMS: Record<string, Harm> = {
  'whose password was changed': {
    code: '28P01',
    harm: ["ALTER ROLE chat_app PASSWORD 'second'"],
    mend: ["ALTER ROLE chat_app PASSWORD 'first'"],
  },
  'who may not log in any more': {
    code: '28000',
    harm: ['ALTER ROLE chat_app NOLOGIN'],
    mend: ['ALTER ROLE chat_app LOGIN'],
  },
  'who may not connect to the database any more': {
    code: '42501',
    harm: ['REVOKE CONNECT ON DATABASE $NAME FROM chat_app'],
    mend: ['GRANT CONNECT ON DATABASE $NAME TO chat_app'],
  },
  'whose database is closed for maintenance': {
    code: '55000',
    harm: ['ALTER DATABASE $NAME ALLOW_CONNECTIONS false'],
    mend: ['ALTER DATABASE $NAME ALLOW_CONNECTIONS true'],
  },
  'whose database has another name': {
    code: '3D000',
    harm: [
      'ALTER DATABASE $NAME ALLOW_CONNECTIONS false',
      "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '$NAME'",
      'ALTER DATABASE $NAME RENAME TO moved',
    ],
    mend: ['ALTER DATABASE moved RENAME TO $NAME', 'ALTER DATABASE $NAME ALLOW_CONNECTIONS true'],
  },
  'who may have no more connections': {
    code: '53300',
    harm: ['ALTER ROLE chat_app CONNECTION LIMIT 0'],
    mend: ['ALTER ROLE chat_app CONNECTION LIMIT -1'],
  },
}

/** What a service writes to its log at `error`. */
function errorLog() {
  const lines: unknown[] = []
  return { lines, log: { debug() {}, info() {}, warn() {}, error: (...line: unknown[]) => void lines.push(line) } }
}

async function failedRequests({ base_url }: TestService): Promise<number> {
  const page = await (await fetch(`${base_url}/metrics`)).text()
  return Number(/^chat_storage_requests_failed_total\{reason="unavailable"\} (\d+)$/m.exec(page)![1])
}

async function startOn(database: RoleDatabase) {
  const { lines, log } = errorLog()
  const url = database.urlFor('chat_app', 'first')
  const service = await startService(url, { config: { database: { url } }, ports: { log } })
  onTestFinished(() => service.close())
  return { service, lines, ask: () => fetch(`${service.base_url}/api/setup`) }
}

let cluster: RoleCluster
beforeAll(async () => {
  if (!inject('postgres_url')) return
  cluster = await startRoleCluster()
  return () => cluster.stop()
})

describe.skipIf(!inject('postgres_url'))('a role of PostgreSQL', () => {
  it.each(Object.entries(HARMS))('%s makes calls unavailable, until that is mended', LONG, async (_, each) => {
    const database = await cluster.createDatabase()
    const { service, lines, ask } = await startOn(database)
    expect((await ask()).status).toBe(200)
    for (const sql of each.harm) await cluster.admin(sql.replace('$NAME', database.name))
    await database.endSessions()
    const response = await ask()
    expect([response.status, await response.json()]).toEqual([503, expect.objectContaining({ code: 'unavailable' })])
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect(await failedRequests(service)).toBeGreaterThanOrEqual(1)
    const query = () =>
      innerState(service)
        .db.get(sql`SELECT 1`)
        .catch((error: ChatError) => error)
    await expect.poll(query, SOON).toMatchObject({ code: 'unavailable', cause: { code: each.code } })
    expect((await fetch(`${service.base_url}/readyz`)).status).toBe(503)
    for (const sql of each.mend) await cluster.admin(sql.replace('$NAME', database.name))
    await expect.poll(async () => (await ask()).status, SOON).toBe(200)
    await expect.poll(async () => (await fetch(`${service.base_url}/readyz`)).status, SOON).toBe(200)
    expect(lines).toEqual([])
  })

  it('that loses its rights on a table makes calls unavailable, too', LONG, async () => {
    const database = await cluster.createDatabase()
    const { service, lines, ask } = await startOn(database)
    const { db } = innerState(service)
    // Of the owner: it may take its own rights, and give them back.
    await db.run(sql`REVOKE ALL ON users FROM chat_app`)
    expect((await ask()).status).toBe(503)
    await db.run(sql`GRANT ALL ON users TO chat_app`)
    expect((await ask()).status).toBe(200)
    expect(lines).toEqual([])
  })
})

describe.skipIf(!inject('postgres_url'))('a reload with other credentials of PostgreSQL', () => {
  async function startReloadable(database: RoleDatabase) {
    const { service, lines } = await startOn(database)
    const before = innerState(service).settings.current()
    const reload = (user: string, password: string) =>
      service.chat.reload({ ...before, database: { ...before.database, url: database.urlFor(user, password) } })
    const users = () => innerState(service).db.all<{ name: string }>(sql`SELECT session_user AS name`)
    return { service, lines, before, reload, users }
  }

  it('opens connections with the new password, after the old one was refused', LONG, async () => {
    const database = await cluster.createDatabase()
    const { service, lines, reload } = await startReloadable(database)
    const { ada, root } = await startThread(service)
    await cluster.admin("ALTER ROLE chat_app PASSWORD 'second'")
    onTestFinished(() => cluster.admin("ALTER ROLE chat_app PASSWORD 'first'"))
    await database.endSessions()
    await expect(ada.messages.reply(root.message_id, { content: 'too early' })).rejects.toMatchObject({ status: 503 })
    expect(await reload('chat_app', 'second')).toEqual({ changed: ['database.url'], needs_restart: [] })
    // At once: the pause after the refusal was for the old password.
    await ada.messages.reply(root.message_id, { content: 'in time' })
    await database.endSessions()
    await ada.messages.reply(root.message_id, { content: 'on new connections' })
    expect(lines).toEqual([])
  })

  it('moves to another role without a failed call, however many are under way', LONG, async () => {
    const database = await cluster.createDatabase()
    const { service, reload, users } = await startReloadable(database)
    const { ada, root } = await startThread(service)
    await cluster.admin("CREATE ROLE chat_next LOGIN PASSWORD 'other' IN ROLE chat_app")
    let isDone = false
    const posting = (async () => {
      let posts = 0
      while (!isDone) await ada.messages.reply(root.message_id, { content: `post ${posts++}` })
      return posts
    })()
    await reload('chat_next', 'other')
    expect(await users()).toEqual([{ name: 'chat_next' }])
    await cluster.admin('ALTER ROLE chat_app NOLOGIN')
    onTestFinished(() => cluster.admin('ALTER ROLE chat_app LOGIN'))
    isDone = true
    expect(await posting).toBeGreaterThan(0)
  })

  it.each([
    ['a wrong password', 'chat_app', 'mistyped', 'password authentication failed'],
    ['a role without rights on the tables', 'chat_poor', 'poor', 'permission denied'],
  ])('changes nothing with %s', LONG, async (_, user, password, reason) => {
    const database = await cluster.createDatabase()
    const { service, before, reload, users } = await startReloadable(database)
    await cluster.admin("CREATE ROLE chat_poor LOGIN PASSWORD 'poor'")
    await cluster.admin(`GRANT CONNECT ON DATABASE ${database.name} TO chat_poor`)
    onTestFinished(async () => {
      await cluster.admin(`REVOKE CONNECT ON DATABASE ${database.name} FROM chat_poor`)
      await cluster.admin('DROP ROLE chat_poor')
    })
    const refused = reload(user, password)
    await expect(refused).rejects.toThrow('database.url')
    await expect(refused).rejects.toThrow(reason)
    expect(innerState(service).settings.current()).toEqual(before)
    expect(await users()).toEqual([{ name: 'chat_app' }])
    await database.endSessions()
    await expect.poll(() => users().catch(() => []), SOON).toEqual([{ name: 'chat_app' }])
  })
})
