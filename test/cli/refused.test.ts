import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { type RoleCluster, startRoleCluster } from '../support/postgres-roles.ts'
import { folder, run } from './process.ts'
import { serve } from './serving.ts'

const LONG = { timeout: 120_000 }

let cluster: RoleCluster
beforeAll(async () => {
  if (!inject('postgres_url')) return
  cluster = await startRoleCluster()
  return () => cluster.stop()
})

const COMMANDS = [
  ['serve', '--port', '0'],
  ['serve', '--port', '0', '--workers', '2'],
  ['migrate'],
  ['fsck'],
  ['doctor'],
  ['export', 'archive.jsonl'],
  ['nodes', 'list'],
  ['reload'],
  ['user', 'list'],
]

const REFUSALS: [code: string, statement: string, mended: string, reason: string][] = [
  ['28000', 'ALTER ROLE chat_app NOLOGIN', 'ALTER ROLE chat_app LOGIN', 'is not permitted to log in'],
  ['42501', 'REVOKE CONNECT ON DATABASE $NAME FROM chat_app', '', 'permission denied for database'],
  ['55000', 'ALTER DATABASE $NAME ALLOW_CONNECTIONS false', '', 'is not currently accepting connections'],
  ['3D000', 'DROP DATABASE $NAME', '', 'does not exist'],
]

describe.skipIf(!inject('postgres_url'))('a connection that PostgreSQL refuses', () => {
  const refusedRun = async (args: string[], url: string) => {
    const { code, stdout, stderr } = await run(args, { cwd: folder(), env: { CHAT_DATABASE__URL: url } })
    const output = stdout + stderr
    expect(output).not.toMatch(/\n\s+at |node_modules|postgres:\/\/[^@]*wrong/)
    return { code, output }
  }

  it.each(COMMANDS.map((args) => [args.join(' '), args] as const))(
    'ends "chat-server %s" with 1 and the reason, without a stack',
    LONG,
    async (_, args) => {
      const url = (await cluster.createDatabase()).urlFor('chat_app', 'wrong')
      expect(await refusedRun([...args], url)).toEqual({
        code: 1,
        output: expect.stringContaining('password authentication failed for user "chat_app"'),
      })
    },
  )

  it.each(REFUSALS)('with %s ends a start in the same way', LONG, async (_, statement, mended, reason) => {
    const database = await cluster.createDatabase()
    await cluster.admin(statement.replace('$NAME', database.name))
    const url = database.urlFor('chat_app', 'first')
    try {
      const refused = { code: 1, output: expect.stringContaining(reason) }
      expect(await refusedRun(['serve', '--port', '0'], url)).toEqual(refused)
      expect(await refusedRun(['doctor'], url)).toEqual(refused)
    } finally {
      if (mended) await cluster.admin(mended)
    }
  })
})

describe.skipIf(!inject('postgres_url'))('a changed password', () => {
  it.each(['SIGHUP', 'chat-server reload'])('is taken by every worker on %s, without a restart', LONG, async (how) => {
    const database = await cluster.createDatabase()
    await cluster.admin("CREATE ROLE chat_other LOGIN PASSWORD 'old' IN ROLE chat_app")
    await cluster.admin('ALTER ROLE chat_other SET role = chat_app')
    onTestFinished(() => cluster.admin('DROP ROLE chat_other'))
    const cwd = folder({ 'chat-server.toml': '[database]\nurl_file = "url"\npool_size = 3\n' })
    const write = (password: string) =>
      writeFileSync(join(cwd, 'url'), database.urlFor('chat_other', password), { mode: 0o600 })
    write('old')
    const server = await serve({ cwd }, '--workers', '2')
    const status = async () => (await fetch(`${server.url}/api/setup`, { headers: { connection: 'close' } })).status
    await cluster.admin("ALTER ROLE chat_other PASSWORD 'new'")
    write('new')
    if (how === 'SIGHUP') {
      await database.endSessions()
      expect(await status()).toBe(503)
      server.child.kill('SIGHUP')
    } else {
      const { code, stdout } = await run(['reload', '--json'], { cwd })
      const { nodes } = JSON.parse(stdout)
      expect([code, nodes]).toEqual([0, [0, 1].map(() => expect.objectContaining({ changed: ['database.url'] }))])
      await database.endSessions()
    }
    // Each connection may reach another worker.
    const statuses = async () => new Set(await Promise.all(Array.from({ length: 12 }, status)))
    await expect.poll(statuses, { timeout: 60_000, interval: 200 }).toEqual(new Set([200]))
    server.child.kill('SIGTERM')
    const { code, stderr } = await server.end
    expect(code).toBe(0)
    expect(stderr).not.toMatch(/"level":"error"|\n\s+at /)
  })
})
