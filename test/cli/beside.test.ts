import { spawnSync } from 'node:child_process'
import { createWriteStream, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { expect, it } from 'vitest'
import { createChatService, OPERATOR, openStorage, parseConfig } from '../../lib/index.ts'
import { sql, statement } from '../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { innerState } from '../support/service.ts'
import { commandOf, finished, folder, run, start } from './process.ts'
import { serve } from './serving.ts'

const LONG = { timeout: 120_000 }
const env = { CHAT_SECURITY__PASSWORD__BCRYPT_COST: '4', CHAT_LOG__LEVEL: 'warn' }
const PASSWORD = 'correct horse battery'

it('commands next to a running service are safe, and the unsafe one refuses', LONG, async () => {
  const cwd = folder()
  await run(['setup', '--email', 'ada@example.org'], { cwd, env, input: PASSWORD })
  const server = await serve({ cwd, env })
  const at = (line: string) => run(line.split(' '), { cwd, env })
  expect((await at('migrate')).stdout).toBe('Already up to date.\n')
  expect((await at('backup copy.db')).code).toBe(0)
  expect((await at('fsck')).code).toBe(0)
  expect((await at('export chat.jsonl')).code).toBe(0)
  const restored = await at('restore copy.db --force')
  expect([restored.code, restored.stderr]).toEqual([1, expect.stringMatching(/chat\.db is in use: stop the service/)])
  const filled = await at('import chat.jsonl')
  expect([filled.code, filled.stderr]).toEqual([1, 'chat-server: The database is not empty\n'])
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
  server.child.kill('SIGTERM')
  expect((await server.end).code).toBe(0)
})

it('a command waits some seconds for a database locked by another process, and then reports that', LONG, async () => {
  const cwd = folder()
  await run(['setup', '--email', 'ada@example.org'], { cwd, env, input: PASSWORD })
  const holder = new Sqlite(join(cwd, 'data', 'chat.db'))
  holder.exec('BEGIN IMMEDIATE')
  const { code, stdout, stderr } = await run(['user', 'set-roles', '--user', 'ada', '--roles', 'admin'], { cwd, env })
  expect([code, stdout, stderr]).toEqual([1, '', expect.stringMatching(/cannot answer right now\. \(.*locked.*\)\n$/)])
  expect((await run(['user', 'list'], { cwd, env })).code).toBe(0)
  holder.exec('ROLLBACK')
  holder.close()
})

it('fsck exits with 1 and lists the problems', LONG, async () => {
  const cwd = folder()
  const url = `sqlite:${join(cwd, 'chat.db')}`
  const chat = createChatService(
    parseConfig({ security: { password: { bcrypt_cost: 4 } } }),
    await openStorage({ database: url }),
  )
  await chat.start({ background: false })
  const { user } = await chat.setup.run({ email: 'ada@example.org', password: PASSWORD })
  await chat.conversations.create(await chat.users.actor(user.id), {})
  await innerState(chat).db.run(sql`UPDATE participants SET role = 'member'`)
  await chat.close()
  const [plain, json] = await Promise.all([
    run(['fsck', '--database', url], { cwd, env }),
    run(['fsck', '--database', url, '--json'], { cwd, env }),
  ])
  expect([plain.code, plain.stdout]).toEqual([1, expect.stringMatching(/^BROKEN {2}\S+ \(1\): .*owner/)])
  expect([json.code, JSON.parse(json.stdout).findings]).toEqual([1, [expect.objectContaining({ count: 1 })]])
})

describeOnEachDatabase('an interrupted import', (openUrl, dialect) => {
  it('is not served, and is completed by the next one', LONG, async () => {
    const cwd = folder()
    await fillArchive(cwd)
    const url = await openUrl()
    const storage = await openStorage({ database: url })
    await storage.migrate()
    const count = async () => (await storage.db.get<{ n: number }>(sql`SELECT count(*) AS n FROM users`))!.n
    // On PostgreSQL no row is there before the last one.
    const hasBegun = async () =>
      dialect === 'sqlite'
        ? (await count()) > 0
        : (await storage.db.get(sql`SELECT 1 AS one FROM meta WHERE name = 'import'`)) !== undefined
    // Through a pipe that never ends: the import is killed in the middle, however fast this machine is.
    spawnSync('mkfifo', [join(cwd, 'half.jsonl')])
    const child = start(['import', 'half.jsonl', '--database', url], { cwd, env })
    const end = finished(child)
    const lines = readFileSync(join(cwd, 'chat.jsonl'), 'utf8')
      .split('\n')
      .slice(0, PEOPLE / 2)
    const pipe = createWriteStream(join(cwd, 'half.jsonl')).on('error', () => {})
    pipe.write(`${lines.join('\n')}\n`)
    while (!(await hasBegun())) await sleep(10)
    child.kill('SIGKILL')
    await end
    pipe.destroy()
    expect(await count()).toBeLessThan(PEOPLE)
    for (const command of ['serve --port 0', 'user list', 'export again.jsonl', 'fsck']) {
      const { code, stderr } = await run([...command.split(' '), '--database', url], { cwd, env })
      expect([code, stderr], command).toEqual([
        1,
        expect.stringMatching(/An import .* was interrupted: run "chat-server import"/),
      ])
    }
    const again = await run(['import', 'chat.jsonl', '--database', url, '--json'], { cwd, env })
    expect([again.code, again.stderr, JSON.parse(again.stdout).counts.users]).toEqual([0, '', PEOPLE + 1])
    expect((await run(['fsck', '--database', url], { cwd, env })).code).toBe(0)
    await storage.close()
  })
})

it('import creates no database for a missing archive', async () => {
  const cwd = folder()
  const { code, stderr } = await run(['import', 'nothing.jsonl'], { cwd, env })
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^chat-server: .*nothing\.jsonl does not exist\n$/)])
  const written = await run(['openapi', '--output', 'no/openapi.json'], { cwd })
  expect(written.stderr).toBe(`chat-server: the folder ${join(cwd, 'no')} does not exist\n`)
  const onFolder = await run(['fsck', '--database', 'sqlite:.'], { cwd })
  expect(onFolder.stderr).toBe(`chat-server: ${cwd} is a folder, not a database\n`)
  expect(() => statSync(join(cwd, 'data'))).toThrow('ENOENT')
})

it.skipIf(spawnSync('script', ['--version']).status !== 0)(
  'progress is shown on a terminal only (script)',
  LONG,
  async () => {
    const cwd = folder()
    await fillArchive(cwd)
    const onTerminal = (...args: string[]) => {
      const line = commandOf(args)
        .map((word) => `'${word}'`)
        .join(' ')
      return spawnSync('script', ['-qec', line, '/dev/null'], {
        cwd,
        encoding: 'utf8',
        env: { PATH: process.env.PATH, ...env },
      })
    }
    const other = ['--database', 'sqlite:other.db']
    expect(onTerminal('import', 'chat.jsonl', ...other).stdout).toMatch(
      /Kusers: \d+ of about \d+ MiB \(\d+ %\), \d+ rows\/s\r/,
    )
    expect(onTerminal('backup', 'copy.db', ...other).stdout).toMatch(/KCopied \d+ of about \d+ MiB, \d+ MiB\/s\r/)
    expect(onTerminal('export', 'again.jsonl', ...other).stdout).toMatch(
      /Kusers: \d+ of about \d+ rows \(\d+ %\), \d+ rows\/s\r/,
    )
    expect(onTerminal('fsck', ...other).stdout).toMatch(/invariants hold\.\r\n$/)
    expect((await run(['backup', 'copy.db', '--force', ...other], { cwd, env })).stderr).toBe('')
  },
)

const PEOPLE = 4_000

/** An archive with many rows, in the format of `export`. */
async function fillArchive(cwd: string): Promise<void> {
  const storage = await openStorage({ database: `sqlite:${join(cwd, 'source.db')}` })
  const config = parseConfig({ security: { password: { bcrypt_cost: 4 } } })
  const chat = createChatService(config, storage)
  await chat.start({ background: false })
  await chat.setup.run({ email: 'ada@example.org', password: PASSWORD })
  await storage.db.run(
    statement(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${PEOPLE})
     INSERT INTO users (id, email, email_key, username, username_key, roles, created_at, updated_at)
     SELECT printf('01890000-0000-7000-8000-%012d', i), 'u' || i || '@a.org', 'u' || i || '@a.org',
            'u' || i, 'u' || i, 'member', 1, 1 FROM n`),
  )
  const { code } = await run(['export', 'chat.jsonl', '--database', 'sqlite:source.db'], { cwd, env })
  expect([code, (await chat.users.list(OPERATOR)).users.length]).toEqual([0, 50])
  await chat.close()
}
