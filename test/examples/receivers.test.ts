import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import pg from 'pg'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { callOf } from '../receive/stores.ts'
import { createPostgresDatabase, createSqliteFile } from '../support/databases.ts'
import { freePort } from '../support/free-port.ts'
import { textOf } from '../support/pages.ts'
import { startService, startThread } from '../support/service.ts'
import { webhooksTo } from '../support/webhook-receiver.ts'

const PAGE = 'docs/guides/exactly-once-in-other-languages.md'

/** The version that was tried. */
const PGX = 'github.com/jackc/pgx/v5@v5.7.6'

/** A receiver of the page: how it is made ready, and what reads its effects. */
interface Language {
  name: string
  file: string
  /** The program that runs it; or why it cannot run here. */
  prepare(folder: string): { run: string[] } | { obstacle: string }
  openDatabase(): Promise<{ url: string; effects(): Promise<string[]>; close(): Promise<void> }>
}

const LANGUAGES: Language[] = [
  {
    name: 'python',
    file: 'receiver.py',
    prepare: (folder) =>
      spawnSync('python3', ['--version']).status === 0
        ? { run: ['python3', join(folder, 'receiver.py')] }
        : { obstacle: 'needs Python' },
    async openDatabase() {
      const { url, remove } = await createSqliteFile()
      const path = url.slice('sqlite:'.length)
      const read = () => new Sqlite(path, { readonly: true, fileMustExist: true })
      return {
        url: path,
        close: remove,
        async effects() {
          const db = read()
          try {
            return db.prepare('SELECT event_id FROM activity').pluck().all() as string[]
          } finally {
            db.close()
          }
        },
      }
    },
  },
  {
    name: 'go',
    file: 'main.go',
    prepare(folder) {
      if (spawnSync('go', ['version']).status !== 0) return { obstacle: 'needs Go' }
      if (inject('postgres_url') === null) return { obstacle: 'needs PostgreSQL' }
      const go = (...args: string[]) => spawnSync('go', args, { cwd: folder, encoding: 'utf8' })
      go('mod', 'init', 'receiver')
      go('mod', 'edit', '-require', PGX)
      const got = go('mod', 'tidy')
      if (got.status !== 0) return { obstacle: `needs the module of pgx: ${got.stderr.slice(0, 200)}` }
      const built = go('build', '-o', 'receiver', '.')
      if (built.status !== 0) throw new Error(built.stderr)
      return { run: [join(folder, 'receiver')] }
    },
    async openDatabase() {
      const { url, remove } = await createPostgresDatabase()
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      return {
        url,
        effects: async () => (await client.query('SELECT event_id FROM activity')).rows.map((row) => row.event_id),
        async close() {
          await client.end()
          await remove()
        },
      }
    },
  },
]

describe.each(LANGUAGES)('the receiver in $name', ({ name, file, prepare, openDatabase }) => {
  it('applies each event once, through kills and repeated calls', { timeout: 300_000 }, async ({ skip }) => {
    const folder = await mkdtemp(join(tmpdir(), 'chat-receiver-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const [, program] = new RegExp(`^\`\`\`${name}\\n(.*?)^\`\`\``, 'ms').exec(textOf(PAGE))!
    await writeFile(join(folder, file), program!)
    const prepared = prepare(folder)
    if ('obstacle' in prepared) return skip(prepared.obstacle)
    const database = await openDatabase()
    onTestFinished(() => database.close())
    const port = await freePort()
    const service = await startService('sqlite::memory:', { config: webhooksTo({ port }) })
    onTestFinished(() => service.close())
    const { ada, root } = await startThread(service)
    const url = `http://127.0.0.1:${port}/`
    const since = new Date().toISOString()
    const { webhook, secret } = await ada.webhooks.create({ url, types: ['message.new'] })
    const start = () =>
      startProgram(prepared.run, { WEBHOOK_SECRET: secret!, PORT: String(port), DATABASE: database.url })

    const first = await start()
    const { position } = await ada.feed.read()
    // Grace's: a webhook leaves out what its owner writes.
    const grace = await service.signIn('grace')
    for (let n = 0; n < 20; n++) {
      await grace.messages.reply(root.root_id, { content: `event ${n}` })
      if (n === 10) await kill(first)
    }
    const second = await start()
    const { events } = await ada.feed.read({ after: position, types: 'message.new' })
    const ids = events.map(({ id }) => id).toSorted()
    expect(ids).toHaveLength(20)
    await ada.webhooks.replay(webhook.id, { since })
    await expect.poll(async () => (await database.effects()).toSorted(), { timeout: 60_000 }).toEqual(ids)
    const { deliveries } = await ada.webhooks.listDeliveries(webhook.id, { limit: 200 })
    expect(new Set(deliveries.map(({ event_id }) => event_id)).size).toBeGreaterThan(0)
    await ada.webhooks.replay(webhook.id, { since })
    await grace.messages.reply(root.root_id, { content: 'the last' })
    await expect.poll(async () => (await database.effects()).length, { timeout: 60_000 }).toBe(21)
    expect(await ada.webhooks.test(webhook.id)).toMatchObject({ status: 200 })

    const challenge = { id: 'evt_c', type: 'webhook.challenge', timestamp: since, data: { challenge: 'c-1' } }
    async function call(changes: { secret?: string; timestamp?: number } = {}): Promise<Response> {
      const signed = callOf(challenge, { secret: secret!, ...changes })
      return fetch(url, { method: 'POST', headers: signed.headers, body: await signed.text() })
    }
    expect(await (await call()).json()).toEqual({ challenge: 'c-1' })
    for (const changes of [{ secret: `whsec_${Buffer.alloc(32).toString('base64')}` }, { timestamp: 1 }])
      expect((await call(changes)).status).toBe(401)
    await kill(second)
  })
})

/** Runs a program until it says that it waits; it ends with the test. */
async function startProgram(
  [command = '', ...args]: string[],
  settings: Record<string, string>,
): Promise<ChildProcess> {
  const child = spawn(command, args, { env: { ...process.env, ...settings }, stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  await new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text) => {
        output += text
        if (output.includes('Waiting for events.')) resolve()
      })
    child.once('exit', (code) => reject(new Error(`ended with ${code}: ${output}`)))
  })
  // It has said so a moment before it listens.
  const { PORT } = settings
  await expect
    .poll(() =>
      fetch(`http://127.0.0.1:${PORT}/`, { method: 'POST' }).then(
        (answer) => answer.status,
        () => 0,
      ),
    )
    .toBe(401)
  return child
}

async function kill(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}
