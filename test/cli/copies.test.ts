import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { deleteOldCopies } from '../../cli/copies.ts'
import { openStorage } from '../../lib/index.ts'
import { MIGRATIONS } from '../../lib/storage/schema/migrations.ts'
import { sql } from '../../lib/storage/sql.ts'
import { describeOnEachEmptyDatabase } from '../support/databases.ts'
import { revertLast } from '../support/revert-last.ts'
import { folder, run } from './process.ts'
import { serve } from './serving.ts'

const LONG = { timeout: 60_000 }
const LAST = MIGRATIONS.at(-1)!.name
const COPY = new RegExp(`^chat\\.db\\.before-${LAST}\\.\\d{8}T\\d{6}Z$`)

const copiesIn = (cwd: string) => readdirSync(cwd).filter((name) => name.includes('.before-'))

/** Makes a database whose last migration is pending. */
async function makeOutdated(url: string): Promise<void> {
  const storage = await openStorage({ database: url })
  await storage.migrate()
  await revertLast(storage)
  await storage.close()
}

async function outdated(): Promise<{ cwd: string; env: Record<string, string> }> {
  const cwd = folder()
  await makeOutdated(`sqlite:${join(cwd, 'chat.db')}`)
  return { cwd, env: { CHAT_DATABASE__URL: 'sqlite:chat.db' } }
}

it('migrate copies a SQLite database with data, and the copy can be restored', LONG, async () => {
  const { cwd, env } = await outdated()
  const { code, stdout } = await run(['migrate', '--json'], { cwd, env })
  const [copy] = copiesIn(cwd)
  expect(copy).toMatch(COPY)
  expect([code, JSON.parse(stdout)]).toEqual([0, { applied: [LAST], copy: join(cwd, copy!) }])
  expect((await run(['restore', copy!, '--force'], { cwd, env })).code).toBe(0)
  expect((await run(['migrate', '--plan'], { cwd, env })).stdout).toBe(`${LAST}\n`)
})

it('serve copies it as well, and logs the copy and each migration', LONG, async () => {
  const { cwd, env } = await outdated()
  const service = await serve({ cwd, env })
  service.child.kill('SIGTERM')
  const { stderr } = await service.end
  expect(copiesIn(cwd)).toEqual([expect.stringMatching(COPY)])
  expect(stderr).toContain('"message":"Copied the database before its migration"')
  expect(stderr).toContain(`"message":"Migrated the schema","migration":"${LAST}"`)
})

it('a new database is not copied, nor any other if the configuration says so', LONG, async () => {
  const { cwd, env } = await outdated()
  const off = { ...env, CHAT_STORAGE__BACKUP_BEFORE_MIGRATE: 'false' }
  expect((await run(['migrate'], { cwd, env: off })).stdout).toBe(`Applied ${LAST}.\n`)
  expect((await run(['migrate', '--database', 'sqlite:new.db'], { cwd })).code).toBe(0)
  expect(copiesIn(cwd)).toEqual([])
})

it('fsck and doctor --read-only leave a backup as it is, byte by byte', LONG, async () => {
  const cwd = folder()
  const storage = await openStorage({ database: `sqlite:${join(cwd, 'chat.db')}` })
  await storage.migrate()
  await storage.backup(join(cwd, 'copy.db'))
  await storage.close()
  const before = readFileSync(join(cwd, 'copy.db'))
  const env = { CHAT_DATABASE__URL: 'sqlite:copy.db', CHAT_SERVER__PORT: '1' }
  expect(await run(['fsck'], { cwd, env })).toMatchObject({ code: 0 })
  expect((await run(['doctor', '--read-only'], { cwd, env })).stdout).toContain('database.schema')
  expect(readFileSync(join(cwd, 'copy.db')).equals(before)).toBe(true)
  expect(readdirSync(cwd).filter((name) => name.startsWith('copy.db'))).toEqual(['copy.db'])
})

const fail = (message: string, fields?: object) => expect.fail(`${message} ${JSON.stringify(fields)}`)

it('the last two copies are kept, for a week', () => {
  const name = (day: number) => `chat.db.before-0009-x.2026010${day}T000000Z`
  const cwd = folder({ 'chat.db': '', 'chat.db.before-lunch': '', 'other.db.before-0009-x.20260101T000000Z': '' })
  const now = Date.UTC(2026, 0, 9)
  for (const day of [1, 3, 4, 5]) {
    writeFileSync(join(cwd, name(day)), '')
    utimesSync(join(cwd, name(day)), Date.UTC(2026, 0, day) / 1000, Date.UTC(2026, 0, day) / 1000)
  }
  const left = () => readdirSync(cwd).filter((file) => file.startsWith('chat.db.before-0009'))
  deleteOldCopies(join(cwd, 'chat.db'), fail, now)
  expect(left()).toEqual([name(4), name(5)])
  deleteOldCopies(join(cwd, 'chat.db'), fail, now + 2.5 * 24 * 60 * 60 * 1000)
  expect(left()).toEqual([name(5)])
  expect(readdirSync(cwd)).toContain('chat.db.before-lunch')
  expect(readdirSync(cwd)).toContain('other.db.before-0009-x.20260101T000000Z')
})

it('old copies stay while the clock may be wrong, and only the number of them counts', () => {
  const names = ['20260101', '20260102', '20260103'].map((day) => `chat.db.before-0009-x.${day}T000000Z`)
  const cwd = folder(Object.fromEntries(names.map((name) => [name, ''])))
  for (const [n, name] of names.entries()) utimesSync(join(cwd, name), n, n)
  const left = () => names.filter((name) => existsSync(join(cwd, name)))
  deleteOldCopies(join(cwd, 'chat.db'), () => {}, undefined)
  expect(left()).toEqual(names.slice(1))
  deleteOldCopies(join(cwd, 'chat.db'), () => {}, Date.now())
  expect(left()).toEqual([])
})

it('a copy that cannot be deleted does not end the service', () => {
  const name = 'chat.db.before-0009-x.20260101T000000Z'
  const cwd = folder({ 'chat.db': '' })
  // Not a file: deleting it fails, also for root.
  mkdirSync(join(cwd, name))
  utimesSync(join(cwd, name), 0, 0)
  const said: unknown[] = []
  deleteOldCopies(join(cwd, 'chat.db'), (message) => said.push(message), Date.now())
  expect(said).toEqual(['Old copies of the database could not be deleted'])
})

it('serve on a taken port neither creates nor migrates a database', LONG, async () => {
  const other = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void other.close())
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const cwd = folder()
  const { code, stderr } = await run(['serve', '--port', String(port)], { cwd })
  expect([code, stderr]).toEqual([1, expect.stringContaining('the port is taken')])
  expect(readdirSync(cwd)).toEqual([])
})

it.each([
  [['--host', '203.0.113.5', '--port', '0'], 'no network interface has this address'],
  [['--socket', 'no/folder/chat.sock'], 'its folder does not exist'],
])('serve on an address that it cannot have, %j, creates no database', LONG, async (args, reason) => {
  const cwd = folder()
  const { code, stderr } = await run(['serve', ...args], { cwd })
  expect([code, stderr]).toEqual([1, expect.stringContaining(reason)])
  expect(readdirSync(cwd)).toEqual([])
})

describeOnEachEmptyDatabase('migrate', (openUrl, dialect) => {
  it('shows what another version has done to the schema, and fails if that cannot be used', LONG, async () => {
    const url = await openUrl()
    const storage = await openStorage({ database: url })
    await storage.migrate()
    await storage.db.run(
      sql`INSERT INTO migrations (id, name, checksum, applied_at) VALUES (${MIGRATIONS.length + 1}, '9999-future', 'x', 0)`,
    )
    const options = { cwd: folder(), env: { CHAT_DATABASE__URL: url } }
    const status = () => run(['migrate', '--status'], options)
    expect(await status()).toMatchObject({ code: 0, stdout: expect.stringContaining('(by a newer program)') })
    const versions = [`1.${MIGRATIONS.length + 1}`, `1.${MIGRATIONS.length}`]
    expect((await status()).stdout).toContain(
      `The database has the schema ${versions[0]}, this program ${versions[1]}.`,
    )
    const { stdout } = await run(['migrate', '--status', '--json'], options)
    expect(JSON.parse(stdout)).toMatchObject({ database_schema: versions[0], schema: versions[1] })
    await storage.db.run(sql`INSERT INTO meta (name, value) VALUES ('schema_major', '2')`)
    for (const args of [['migrate', '--plan'], ['migrate', '--status'], ['migrate']])
      expect(await run(args, options)).toMatchObject({ code: 1, stderr: expect.stringContaining('newer version') })
    await storage.db.run(sql`DELETE FROM meta WHERE name = 'schema_major'`)
    await storage.db.run(sql`UPDATE migrations SET checksum = 'x' WHERE id = 2`)
    expect(await status()).toMatchObject({ code: 1, stdout: expect.stringContaining('(with other statements)') })
    await storage.close()
  })

  it.skipIf(dialect === 'sqlite')('notes that PostgreSQL is not copied', LONG, async () => {
    const url = await openUrl()
    await makeOutdated(url)
    const { code, stderr } = await run(['migrate'], { cwd: folder(), env: { CHAT_DATABASE__URL: url } })
    expect([code, stderr]).toEqual([0, expect.stringContaining('migrated without a copy')])
  })
})
