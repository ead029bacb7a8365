import { existsSync, mkdirSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { afterEach, expect, it } from 'vitest'
import { openStorage, restoreStorage } from '../../../lib/index.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { createSqliteFile, type FreshDatabase } from '../../support/databases.ts'
import { innerState, PASSWORD, type Person, startService, type TestService } from '../../support/service.ts'
import { openStream, signInByHand, type TestStream } from '../../support/stream.ts'

const NOISE = 'not a database, but long enough to be read as its first page: '.repeat(100)

const closings: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closings.splice(0).reverse()) await close()
})

async function createDatabase() {
  const database: FreshDatabase = await createSqliteFile()
  closings.push(() => database.remove())
  const file = database.url.slice('sqlite:'.length)
  return { url: database.url, file, signals: `${file}-signals` }
}

async function start(url: string) {
  const lines: string[] = []
  const keep = (message: string) => void lines.push(message)
  const log = { debug() {}, info() {}, warn: keep, error: keep }
  const service = await startService(url, { ports: { log }, config: { cluster: { beat_seconds: 1 } } })
  closings.push(() => service.close())
  return { service, lines }
}

async function follow(service: TestService, person: Person, id: string): Promise<TestStream> {
  const { cookie } = await signInByHand(service.base_url, person.email, PASSWORD)
  const stream = await openStream(service.base_url, id, { cookie })
  closings.push(() => stream.close())
  await stream.until('stream.ready')
  return stream
}

/** Uses what an unusable file of signals could harm. */
async function useService(service: TestService): Promise<void> {
  const ada = await service.signIn('ada')
  const grace = await service.signIn('grace')
  const { conversation_id } = await ada.conversations.create()
  await ada.participants.add(conversation_id, { user_id: grace.id })
  const stream = await follow(service, grace, conversation_id)
  await ada.presence.sendHeartbeat({ status: 'away' })
  await stream.until('presence.update', ({ payload }) => JSON.stringify(payload).includes('away'))
  await ada.presence.setTyping({ conversation_id })
  await stream.until('typing.update')
  await ada.messages.postRoot(conversation_id, { content: 'first' })
  await stream.until('message.new')
  expect((await ada.nodes.list()).nodes).toMatchObject([{ self: true }])
  expect((await fetch(`${service.base_url}/readyz`)).status).toBe(200)
}

const isKnown = (service: TestService, count: number) =>
  expect.poll(() => innerState(service).cluster.countNodes(), { timeout: 20_000 }).toBe(count)

it('is created by the first process that serves, for its user only', async () => {
  const { url, file, signals } = await createDatabase()
  const storage = await openStorage({ database: url })
  await storage.migrate()
  await storage.close()
  expect(existsSync(signals)).toBe(false)
  await start(url)
  for (const end of ['', '-wal', '-shm']) expect(statSync(`${signals}${end}`).mode & 0o777).toBe(0o600)
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

it('does not exist for a database in memory', async () => {
  const { service } = await start('sqlite::memory:')
  await useService(service)
  expect(innerState(service).cluster.isShared).toBe(false)
})

it.each([
  ['is damaged', (path: string) => writeFileSync(path, NOISE)],
  [
    'is empty beside a WAL',
    (path: string) => [path, `${path}-wal`].map((part, i) => writeFileSync(part, i ? NOISE : '')),
  ],
])('is replaced if it %s at the start', async (_, damage) => {
  const { url, signals } = await createDatabase()
  damage(signals)
  const { service, lines } = await start(url)
  const { service: other } = await start(url)
  await isKnown(service, 2)
  await isKnown(other, 2)
  await other.close()
  expect(lines.filter((line) => !/heard|told|Old signals/.test(line))).toEqual([])
})

it.each([
  ['cannot be opened', (path: string) => mkdirSync(path)],
  ['cannot be created', (path: string) => mkdirSync(`${path}-wal`)],
])('harms nothing if it %s', async (_, spoil) => {
  const { url, signals } = await createDatabase()
  spoil(signals)
  const { service, lines } = await start(url)
  await useService(service)
  expect(lines.filter((line) => line.includes('heard'))).toHaveLength(1)
  expect(lines.filter((line) => /presence|stream/i.test(line))).toEqual([])
})

it.each([
  ['deleted', (path: string) => rmSync(path)],
  ['damaged', (path: string) => writeFileSync(path, NOISE)],
  ['cut', (path: string) => truncateSync(path, 100)],
])('is replaced if it is %s while two processes run', async (_, damage) => {
  const { url, signals } = await createDatabase()
  const [{ service: here }, { service: there }] = [await start(url), await start(url)]
  await isKnown(here, 2)
  await isKnown(there, 2)
  damage(signals)
  const ada = await here.signIn('ada')
  const { conversation_id } = await ada.conversations.create()
  await ada.messages.postRoot(conversation_id, { content: 'first' })
  // A new process meets them all.
  const { service: third } = await start(url)
  for (const service of [here, there, third]) await isKnown(service, 3)
})

it('is not in a backup, and is removed by a restore', async () => {
  const { url, file, signals } = await createDatabase()
  const { service } = await start(url)
  await useService(service)
  const storage = await openStorage({ database: url })
  await storage.backup(`${file}.backup`)
  await expect(storage.backup(signals)).rejects.toThrow('is the database itself')
  await storage.close()
  await service.close()
  writeFileSync(signals, NOISE)
  await restoreStorage(url, `${file}.backup`, { force: true })
  expect(readdirSync(file.replace(/\/[^/]*$/, '')).sort()).toEqual(['chat.db', 'chat.db.backup'])
  expect(existsSync(signals)).toBe(false)
})

it('is not waited for by a writer, nor the other way round', async () => {
  const { url } = await createDatabase()
  const { service } = await start(url)
  const { db, cluster } = innerState(service)
  // While a transaction of the service is open, signals are stored, and found.
  await db.write(async () => {
    await cluster.db.run(sql`INSERT INTO signals (node_id, at, body) VALUES (${'another'}, 0, ${'text'})`)
  })
  expect(await cluster.db.get(sql`SELECT body FROM signals`)).toEqual({ body: 'text' })
})
