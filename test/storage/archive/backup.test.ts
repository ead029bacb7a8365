import { randomBytes } from 'node:crypto'
import { copyFileSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { openStorage, restoreStorage } from '../../../lib/index.ts'
import { listHistories } from '../../../lib/storage/histories.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { createPostgresDatabase } from '../../support/databases.ts'
import { innerState, PASSWORD, startService, startThread, type TestService, times } from '../../support/service.ts'
import { openStream, signInByHand } from '../../support/stream.ts'

const NOISE = randomBytes(10_000)

async function readHistory(service: TestService): Promise<{ epoch: string; names: string[] }> {
  const { db } = innerState(service)
  const { value } = (await db.get<{ value: string }>(sql`SELECT value FROM meta WHERE name = 'epoch'`))!
  return { epoch: value, names: (await listHistories(db)).map(({ name }) => name) }
}

describe('a backup of SQLite', () => {
  let folder: string
  let url: string
  let copy: string
  const services: TestService[] = []

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'chat-backup-'))
    url = `sqlite:${join(folder, 'chat.db')}`
    copy = join(folder, 'copy.db')
  })
  afterEach(async () => {
    for (const service of services.splice(0)) await service.close()
    rmSync(folder, { recursive: true })
  })

  async function start(database = url): Promise<TestService> {
    const service = await startService(database)
    services.push(service)
    return service
  }

  async function stop(service: TestService): Promise<void> {
    services.splice(services.indexOf(service), 1)
    await service.close()
  }

  it('begins a history of its own when it is started without a restore, once, and drops what the original does', async () => {
    const service = await start()
    const { ada, conversation_id } = await startThread(service)
    const { db } = innerState(service)
    await db.run(sql`INSERT INTO tasks (id, kind, key, due_at) VALUES ('t', 'mail.send', 'k', 9000000000000000)`)
    const storage = await openStorage({ database: url })
    await storage.backup(copy)
    await storage.close()
    await ada.messages.postRoot(conversation_id, { content: 'only in the original' })
    const { epoch, names } = await readHistory(service)
    const started = await start(`sqlite:${copy}`)
    const other = await readHistory(started)
    expect(other.epoch).not.toBe(epoch)
    expect(other.names).toEqual([...names, expect.any(String)])
    expect(await innerState(started).db.all(sql`SELECT id FROM tasks WHERE kind = 'mail.send'`)).toEqual([])
    await stop(started)
    expect(await readHistory(await start(`sqlite:${copy}`))).toEqual(other)
    expect(await readHistory(service)).toEqual({ epoch, names })
  })

  it('gives events from before they had ids the same ones in each copy', async () => {
    const service = await start()
    await startThread(service)
    const { names } = await readHistory(service)
    await innerState(service).db.run(sql`DELETE FROM meta WHERE name = 'event_histories'`)
    const storage = await openStorage({ database: url })
    await storage.backup(copy)
    await storage.close()
    const restored = `sqlite:${join(folder, 'restored.db')}`
    await restoreStorage(restored, copy)
    for (const database of [restored, `sqlite:${copy}`])
      expect((await readHistory(await start(database))).names).toEqual([...names, expect.any(String)])
  })

  it('contains everything acknowledged before it began, whatever is written meanwhile', async () => {
    const service = await start()
    const { ada, root } = await startThread(service)
    const reply = (content: string) => ada.messages.reply(root.message_id, { content })
    const before = await Promise.all(times(50, (index) => reply(`before ${index}`)))
    // As on the command line: on a connection of its own.
    const storage = await openStorage({ database: url })
    const meanwhile = times(50, (index) => reply(`meanwhile ${index}`))
    expect(await storage.backup(copy)).toBe(statSync(copy).size)
    await Promise.all(meanwhile)
    await storage.close()
    expect(statSync(copy).mode & 0o777).toBe(0o600)

    const restored = `sqlite:${join(folder, 'restored.db')}`
    await restoreStorage(restored, copy)
    const other = await start(restored)
    const actor = await other.chat.users.actor(ada.id)
    const { messages } = await other.chat.threads.tree(actor, root.root_id, { limit: 500 })
    const ids = new Set(messages.map((message) => message.id))
    for (const { message_id } of before) expect(ids).toContain(message_id)
    expect((await other.chat.ops.fsck()).findings).toEqual([])
  })

  it('starts a new event history, so that every reader reads again', async () => {
    const service = await start()
    const { ada, conversation_id } = await startThread(service)
    const { stream_position } = await ada.conversations.get(conversation_id)
    await innerState(service).db.run(sql`VACUUM INTO ${copy}`)
    await stop(service)

    await restoreStorage(url, copy, { force: true })
    const restored = await start()
    const { cookie } = await signInByHand(restored.base_url, ada.email, PASSWORD)
    const stream = await openStream(restored.base_url, conversation_id, { cookie, last_event_id: stream_position! })
    const [, reset] = await stream.until('stream.reset')
    expect(reset!.event.payload).toMatchObject({ reason: 'unknown' })
    await stream.close()
  })

  it('sends no mail again that waited when the backup was made', async () => {
    const service = await start()
    const mail = {
      kind: 'mail.send',
      key: '.mail',
      detail: { mail: 'reset_password', queued_at: 1 },
      delay_seconds: 3600,
    } as const
    await innerState(service).write(async (tx) => tx.enqueue(mail))
    await innerState(service).db.run(sql`VACUUM INTO ${copy}`)
    await stop(service)
    await restoreStorage(url, copy, { force: true })
    expect(await innerState(await start()).db.all(sql`SELECT id FROM tasks WHERE kind LIKE 'mail.%'`)).toEqual([])
  })

  it('does not make backups in the name of the original', async () => {
    const service = await start()
    const { db } = innerState(service)
    await db.run(sql`INSERT INTO schedules (name, owner, created_at, attempted_at) VALUES ('backup', 'abcd0123', 1, 1)`)
    await db.run(sql`VACUUM INTO ${copy}`)
    await stop(service)
    await restoreStorage(url, copy, { force: true })
    expect(await innerState(await start()).db.all(sql`SELECT owner FROM schedules`)).toEqual([])
  })

  it('overwrites nothing without --force, and never the database itself', async () => {
    const service = await start()
    await startThread(service)
    const storage = await openStorage({ database: url })
    writeFileSync(copy, 'precious')
    await expect(storage.backup(copy)).rejects.toThrow('already exists')
    await expect(storage.backup(join(folder, 'chat.db'), { force: true })).rejects.toThrow('is the database itself')
    for (const part of ['-wal', '-shm', '-journal']) {
      const file = join(folder, `chat.db${part}`)
      await expect(storage.backup(file, { force: true })).rejects.toThrow('is the database itself')
    }
    await expect(storage.backup(folder, { force: true })).rejects.toThrow('is not a file')
    await storage.backup(copy, { force: true })
    await expect(restoreStorage(url, copy)).rejects.toThrow('already exists')
    await storage.close()
    await expect(restoreStorage(url, copy, { force: true })).rejects.toThrow('is in use')
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('is refused for a database whose last commits are in a file next to it', async () => {
    const service = await start()
    const { ada, root } = await startThread(service)
    // As after a crash: copied by other means, before a checkpoint.
    for (const end of ['', '-wal']) copyFileSync(join(folder, `chat.db${end}`), `${copy}${end}`)
    const restored = `sqlite:${join(folder, 'restored.db')}`
    await expect(restoreStorage(restored, copy)).rejects.toThrow('chat-server backup')
    expect(existsSync(join(folder, 'restored.db'))).toBe(false)

    const storage = await openStorage({ database: `sqlite:${copy}` })
    await storage.backup(join(folder, 'whole.db'))
    await storage.close()
    await restoreStorage(restored, join(folder, 'whole.db'))
    const other = await start(restored)
    const actor = await other.chat.users.actor(ada.id)
    expect((await other.chat.threads.tree(actor, root.root_id, {})).messages).toHaveLength(1)
  })

  it.each([
    ['is no database any more', (path: string) => [path, `${path}-wal`].map((part) => writeFileSync(part, NOISE))],
    ['is gone', (path: string) => rmSync(path)],
  ])('is restored where the database %s, whatever files are next to it', async (_, spoil) => {
    const service = await start()
    const { ada, root } = await startThread(service)
    const storage = await openStorage({ database: url })
    await storage.backup(copy)
    await storage.close()
    await ada.messages.reply(root.message_id, { content: 'after the backup' })
    // As after a crash: the last commits are only in the WAL.
    const path = join(folder, 'chat.db')
    copyFileSync(`${path}-wal`, join(folder, 'left'))
    await stop(service)
    copyFileSync(join(folder, 'left'), `${path}-wal`)
    spoil(path)

    await restoreStorage(url, copy, { force: true })
    const restored = await start()
    const actor = await restored.chat.users.actor(ada.id)
    expect((await restored.chat.threads.tree(actor, root.root_id, {})).messages).toHaveLength(1)
    expect((await restored.chat.ops.fsck()).findings).toEqual([])
  })

  it.each([
    ['is not there', () => {}, 'There is no backup'],
    ['is no database', (path: string) => writeFileSync(path, 'x'.repeat(10_000)), 'not a database'],
    ['is of something else', (path: string) => writeFileSync(path, ''), 'not a database of chat-server'],
  ])('is refused when it %s', async (_, make, message) => {
    make(copy)
    await expect(restoreStorage(url, copy)).rejects.toThrow(message)
    expect(statSync(join(folder, 'chat.db'), { throwIfNoEntry: false })).toBeUndefined()
  })
})

it.skipIf(!inject('postgres_url'))('PostgreSQL is left to its own tools, and starts a new event history', async () => {
  const database = await createPostgresDatabase()
  const storage = await openStorage({ database: database.url })
  await storage.migrate()
  const epoch = () => storage.db.get(sql`SELECT value FROM meta WHERE name = 'epoch'`)
  const before = await epoch()
  await expect(storage.backup('/nowhere')).rejects.toThrow('pg_dump')
  await storage.renewEpoch()
  expect(await epoch()).not.toEqual(before)
  await storage.close()
  await database.remove()
})
