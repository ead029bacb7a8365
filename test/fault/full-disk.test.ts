import { cpSync, existsSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, type TestContext, vi } from 'vitest'
import { MIB } from '../../lib/core/units.ts'
import { sql } from '../../lib/storage/sql.ts'
import { createReserve } from '../../lib/storage/sqlite/reserve.ts'
import { folder, run } from '../cli/process.ts'
import { codeOf, innerState, type Person, startService, type TestService } from '../support/service.ts'
import { settle } from './people.ts'
import { FULL_DISKS } from './storage/full.ts'
import { type Mount, mountSmall } from './storage/mounts.ts'
import { serve } from './storage/serving.ts'

/** With room for the reserve, and the 64 MiB beside it. */
const DISK_MIB = 96

const env = { CHAT_SECURITY__PASSWORD__BCRYPT_COST: '4', CHAT_LOG__LEVEL: 'warn' }

function mountOr(skip: TestContext['skip'], mebibytes = DISK_MIB): Mount {
  const mount = mountSmall(mebibytes)
  if (!mount) return skip('this user may mount no file system')
  onTestFinished(mount.remove)
  return mount
}

/** A service with its database on a small disk, and another one on the same file. */
async function startOn(mount: Mount): Promise<{ service: TestService; other: TestService; url: string; file: string }> {
  const file = join(mount.path, 'chat.db')
  const url = `sqlite:${file}`
  const service = await startService(url)
  onTestFinished(() => service.close())
  const other = await startService(url)
  onTestFinished(() => other.close())
  return { service, other, url, file }
}

const keepReserve = ({ chat }: TestService) => innerState(chat).db.keepReserve!()

async function fillConversation(person: Person, threads: number): Promise<string> {
  const { conversation_id } = await person.conversations.create({ title: 'Plans' })
  for (let n = 0; n < threads; n++) {
    const content = `${n} ${'grüß 🥊 '.repeat(200)}`
    await person.messages.postRoot(conversation_id, { content })
  }
  return conversation_id
}

/** The code of a failed call. */
const outcomeOf = (call: Promise<unknown>) =>
  call.then(
    () => 'done',
    (error) => error.code as string,
  )

/** Posts until the disk is full to the last page of the WAL. */
async function postUntilFull(person: Person, conversation_id: string): Promise<void> {
  const content = 'x'.repeat(30_000)
  const post = () => outcomeOf(person.messages.postRoot(conversation_id, { content }))
  while ((await post()) !== 'storage_full');
}

/** Writes a page at a time until the disk has no room for another one, or has some again: that of the reserve. */
async function writeUntilFull({ chat }: TestService, file: string): Promise<void> {
  const write = () => innerState(chat).db.run(sql`UPDATE users SET display_name = display_name`)
  while (statSync(`${file}-reserve`).size === 8 * MIB && (await outcomeOf(write())) !== 'storage_full');
}

it('on a full disk sign-out and deletions use the reserve, and posts are 507 untried in every process', async ({
  skip,
}) => {
  const mount = mountOr(skip)
  const { service, other, file } = await startOn(mount)
  const ada = await service.signIn('ada')
  const grace = await service.signIn('grace')
  const doomed = await fillConversation(ada, 50)
  const kept = await fillConversation(ada, 1)
  const { message_id } = await ada.messages.postRoot(kept, { content: 'to be deleted' })
  expect(keepReserve(service)).toBe(false)
  expect(statSync(`${file}-reserve`).size).toBe(8 * MIB)
  const free = mount.fill()
  await postUntilFull(ada, kept)
  // A person's deletion takes half of it.
  await ada.messages.remove(message_id)
  await ada.conversations.remove(doomed)
  expect(statSync(`${file}-reserve`).size).toBe(4 * MIB)
  await grace.auth.logout()
  expect(await codeOf(grace.auth.me())).toBe('unauthenticated')
  for (const { chat } of [service, other]) {
    const actor = await chat.users.actor(ada.id)
    expect(await codeOf(chat.messages.postRoot(actor, kept, { content: 'hello' }))).toBe('storage_full')
  }
  await service.idle()
  expect(await codeOf(ada.conversations.get(doomed))).toBe('not_found')
  expect(await innerState(service).db.all(sql`SELECT id FROM conversations WHERE id = ${doomed}`)).toEqual([])
  free()
  await ada.messages.postRoot(kept, { content: 'there is room again' })
  expect(keepReserve(other)).toBe(false)
  expect(statSync(`${file}-reserve`).size).toBe(8 * MIB)
})

it('operators delete on a full disk beside a running service, in steps of a MiB of WAL', async ({ skip }) => {
  const mount = mountOr(skip)
  const { service, url, file } = await startOn(mount)
  const ada = await service.signIn('ada')
  const grace = await service.signIn('grace')
  const doomed = await fillConversation(ada, 300)
  const kept = await fillConversation(ada, 1)
  await ada.participants.add(kept, { user_id: grace.id, role: 'member' })
  for (let n = 0; n < 20; n++) await grace.messages.postRoot(kept, { content: `${n} ${'grüß 🥊 '.repeat(500)}` })
  keepReserve(service)
  const at = (...args: string[]) => run([...args, '--database', url], { cwd: mount.path, env })
  mount.fill()
  await postUntilFull(ada, kept)
  const deleted = await at('conversation', 'delete', doomed, '--yes')
  expect(deleted).toMatchObject({ code: 0, stderr: '' })
  await writeUntilFull(service, file)
  // The deletion itself may fit into the WAL; the removal of the rows, by the service, does not.
  await vi.waitUntil(() => statSync(`${file}-reserve`).size < 8 * MIB, { timeout: 60_000 })
  // Empties the WAL, whose file otherwise keeps its size: what follows shows how much one step writes.
  await vi.waitUntil(() => innerState(service).db.purge([], new AbortController().signal), { timeout: 30_000 })
  expect(await at('user', 'erase', '--user', grace.email, '--messages', 'erase', '--yes')).toMatchObject({ code: 0 })
  expect(await at('session', 'revoke', '--user', ada.email)).toMatchObject({ code: 0 })
  await innerState(service).tasks.settle()
  expect(statSync(`${file}-wal`).size).toBeLessThan(MIB)
  expect(await at('fsck')).toMatchObject({ code: 0 })
  // Events past their retention.
  await innerState(service).db.run(sql`UPDATE events SET created_at = created_at - 200000000000`)
  const pruned = await at('events', 'prune')
  expect(pruned.stdout).toMatch(/^events +\d{2,}/m)
  expect(pruned.stdout).toMatch(/Freed: 0\.0 MiB on the disk, \d+\.\d MiB inside the database file/)
  expect(statSync(`${file}-wal`).size).toBeLessThan(MIB)
  const { count } = (await innerState(service).db.get<{ count: number }>(sql`SELECT count(*) AS count FROM messages`))!
  expect(count).toBeLessThan(300)
})

it('operators delete on a full disk after the service was killed', async ({ skip }) => {
  const mount = mountOr(skip)
  const file = join(mount.path, 'chat.db')
  const url = `sqlite:${file}`
  const at = (...args: string[]) => run([...args, '--database', url], { cwd: mount.path, env })
  const server = await serve(url)
  onTestFinished(() => server.kill())
  const { conversation_id } = await settle(server.base_url)
  createReserve(file).make()
  mount.fill()
  await server.kill()
  rmSync(`${file}-shm`)
  mount.fill()
  expect(await at('conversation', 'delete', conversation_id, '--yes')).toMatchObject({ code: 0, stderr: '' })
  expect(statSync(`${file}-reserve`).size).toBe(0)
})

it('with the reserve used up and no service running, commands name the full disk, and a copy elsewhere works', async ({
  skip,
}) => {
  const mount = mountOr(skip)
  const [file, elsewhere] = [join(mount.path, 'chat.db'), folder()]
  const url = `sqlite:${file}`
  const at = (database: string, ...args: string[]) => run([...args, '--database', database], { cwd: elsewhere, env })
  const server = await serve(url)
  onTestFinished(() => server.kill())
  await settle(server.base_url)
  createReserve(file).make()
  mount.fill()
  await server.kill()
  createReserve(file).release('whole')
  rmSync(`${file}-shm`)
  const free = mount.fill()
  for (const command of [['conversation', 'list'], ['vacuum'], ['events', 'prune']]) {
    const { code, stderr } = await at(url, ...command)
    expect([code, stderr]).toEqual([1, expect.stringContaining('chat.db cannot be opened, as its disk is full')])
  }
  const copy = join(elsewhere, 'chat.db')
  for (const end of ['', '-wal']) cpSync(file + end, copy + end)
  expect(await at(`sqlite:${copy}`, 'fsck')).toMatchObject({ code: 0 })
  expect(await at(`sqlite:${copy}`, 'vacuum')).toMatchObject({ code: 0 })
  free()
  expect(await at(url, 'fsck')).toMatchObject({ code: 0 })
})

it('vacuum refuses a disk without room for the new file, before it begins', async ({ skip }) => {
  const mount = mountOr(skip, 64)
  const { service, url, file } = await startOn(mount)
  await fillConversation(await service.signIn('ada'), 300)
  await service.close()
  const size = statSync(file).size
  mount.fill()
  rmSync(join(mount.path, 'ballast'))
  writeFileSync(join(mount.path, 'ballast'), Buffer.alloc(statfsSync(mount.path).bavail * 4096 - 2 * MIB))
  const { code, stderr } = await run(['vacuum', '--database', url], { cwd: mount.path, env })
  expect([code, stderr]).toEqual([1, expect.stringMatching(/VACUUM needs \d+ MiB next to .+, and 2 MiB are free/)])
  expect(statSync(file).size).toBe(size)
})

it('a disk without room for a reserve has none, and refuses what needs room as before', async ({ skip }) => {
  const mount = mountOr(skip, 64)
  const { service, file } = await startOn(mount)
  const ada = await service.signIn('ada')
  const kept = await fillConversation(ada, 1)
  const { message_id } = await ada.messages.postRoot(kept, { content: 'stays' })
  expect(keepReserve(service)).toBe(false)
  expect(existsSync(`${file}-reserve`)).toBe(false)
  const free = mount.fill()
  await postUntilFull(ada, kept)
  expect(await outcomeOf(ada.messages.remove(message_id))).toBe('storage_full')
  free()
  await ada.messages.remove(message_id)
})

describe('a service whose disk becomes full loses nothing, and comes back by itself', () => {
  it.for(Object.keys(FULL_DISKS))('%s', async (name, { skip }) => {
    const figures = await FULL_DISKS[name]!(1)
    if (typeof figures === 'string') return skip(figures)
    expect(figures).toMatchObject({ lost: 0, faults: [] })
  })
})
