import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { findDone } from '../../../lib/chat/usage/store-rounds.ts'
import { renewDaily, renewForReader, sumUp } from '../../../lib/chat/usage/summing.ts'
import { toInstant } from '../../../lib/core/time.ts'
import { SECOND } from '../../../lib/core/units.ts'
import { ChatError, OPERATOR } from '../../../lib/index.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { codeOf, innerState, type Person, startService, type TestService } from '../../support/service.ts'
import { type Bytes, bytesFor, bytesOf, startWithFiles, upload } from '../attachments/files.ts'

const HOUR = 3_600 * SECOND

describeOnEachDatabase('what users and conversations store', (openUrl) => {
  let service: TestService
  let node: TestService
  let ada: Person
  let grace: Person
  let [ofAda, ofGrace]: Bytes[] = []
  let [engines, letters] = ['', '']
  let now = Date.UTC(2026, 0, 1) * 1000
  beforeAll(async () => {
    const url = await openUrl()
    const config = { session: { idle_seconds: 34_560_000, absolute_seconds: 34_560_000 } }
    const options = { config, ports: { now: () => now } }
    service = await startWithFiles(url, options)
    node = await startService(url, options)
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
    ;[ofAda, ofGrace] = [await bytesFor(service, ada), await bytesFor(service, grace)]
    engines = (await ada.conversations.create({})).conversation_id
    letters = (await ada.conversations.create({})).conversation_id
    await ada.participants.add(engines, { user_id: grace.id, role: 'member' })
    const file = await upload(ada, ofAda!, engines, { content: bytesOf(1000, 'a') })
    await ada.messages.postRoot(engines, { content: 'äöü', attachment_ids: [file] })
    const other = await upload(grace, ofGrace!, engines, { content: bytesOf(900, 'b') })
    await grace.messages.postRoot(engines, { content: '', attachment_ids: [other] })
    await ada.messages.postRoot(letters, { content: '12345' })
  })
  afterAll(() => Promise.all([service.close(), node.close()]))

  const list = (by: 'user' | 'conversation', more = {}) => ada.usage.list({ by, ...more })
  /** New sums: time passes. */
  const renewed = async (by: 'user' | 'conversation') => {
    now += HOUR + 1
    return (await list(by)).rows
  }
  const database = () => innerState(service).db
  const rounds = () => database().all<{ n: number; step: string }>(sql`SELECT n, step FROM usage_rounds ORDER BY n`)

  it('is summed up for the first request, largest first', async () => {
    expect(await list('user')).toEqual({
      rows: [
        { key: ada.id, files: 1, bytes: 1000, released_bytes: 0, message_bytes: 11 },
        { key: grace.id, files: 1, bytes: 900, released_bytes: 0, message_bytes: 0 },
      ],
      as_of: toInstant(now),
    })
    expect((await list('conversation')).rows).toEqual([
      { key: engines, files: 2, bytes: 1900, released_bytes: 0, message_bytes: 6 },
      { key: letters, files: 0, bytes: 0, released_bytes: 0, message_bytes: 5 },
    ])
  })

  it('stays as it is for an hour, and a clock that was ahead does not keep it', async () => {
    const before = await list('user')
    await grace.messages.postRoot(engines, { content: 'x'.repeat(200) })
    now += HOUR
    expect(await list('user')).toEqual({ ...before, as_of: toInstant(now - HOUR) })
    now += 1
    expect((await list('user')).rows[0]).toMatchObject({ key: grace.id, message_bytes: 200 })
    now += 30 * 24 * HOUR
    const { as_of } = await list('user')
    now -= 30 * 24 * HOUR
    expect(as_of).not.toBe(toInstant(now))
    expect((await list('user')).as_of).toBe(toInstant(now))
  })

  it('has bytes as released that are deleted later: of deleted messages, and of files that no message has', async () => {
    const [kept, dropped] = [
      await upload(grace, ofGrace!, engines, { content: bytesOf(20, 'kept') }),
      await upload(grace, ofGrace!, engines, { content: bytesOf(300, 'dropped') }),
    ]
    const { message } = await grace.messages.postRoot(engines, { content: '', attachment_ids: [kept, dropped] })
    const amounts = async () => {
      const [user] = (await renewed('user')).filter(({ key }) => key === grace.id)
      const [conversation] = (await list('conversation')).rows.filter(({ key }) => key === engines)
      return [user, conversation].map((each) => [each!.files, each!.bytes, each!.released_bytes])
    }
    expect(await amounts()).toEqual([
      [3, 1220, 0],
      [4, 2220, 0],
    ])
    await grace.messages.edit(message.id, { content: '', attachment_ids: [kept] })
    expect(await amounts()).toEqual([
      [2, 1220, 300],
      [3, 1920, 0],
    ])
    await grace.messages.remove(message.id, {})
    expect(await amounts()).toEqual([
      [2, 1220, 320],
      [3, 1920, 20],
    ])
  })

  it('is read in pages of the same sums, until they were made twice since', async () => {
    const [first, second] = await renewed('user')
    const page = await list('user', { limit: 1 })
    expect(page.rows).toEqual([first])
    await ada.messages.postRoot(letters, { content: 'y'.repeat(10_000) })
    expect((await renewed('user'))[0]!.key).toBe(ada.id)
    const rest = await list('user', { limit: 1, after: page.next_after })
    expect(rest).toEqual({ rows: [second], as_of: page.as_of })
    await renewed('user')
    expect(await codeOf(list('user', { after: page.next_after }))).toBe('invalid_cursor')
    const next = await list('user', { limit: 1 })
    for (const after of ['', 'x', `${next.next_after}0`, page.next_after])
      expect(await codeOf(list('user', { after }))).toBe('invalid_cursor')
    expect(await codeOf(list('conversation', { after: next.next_after }))).toBe('invalid_cursor')
  })

  it('is summed up once, also when two nodes are asked at the same time, and two rounds are kept', async () => {
    const before = (await rounds()).at(-1)!.n
    now += HOUR + 1
    const both = [service, node, service, node].map((each) => each.chat.usage.list(OPERATOR, { by: 'user' }))
    const pages = await Promise.all(both)
    expect(new Set(pages.map(({ as_of }) => as_of))).toEqual(new Set([toInstant(now)]))
    for (const { rows } of pages) expect(rows).toEqual(pages[0]!.rows)
    await service.idle()
    expect(await rounds()).toEqual([
      { n: before, step: 'done' },
      { n: before + 1, step: 'done' },
    ])
    const found = await database().all<{ n: number }>(sql`SELECT DISTINCT n FROM usage_sums ORDER BY n`)
    expect(found.map(({ n }) => n)).toEqual([before, before + 1])
  })

  it('counts each row once, wherever the process that sums up is interrupted', async () => {
    await database().write(async (tx) => {
      const [root] = await tx.all<{ root_id: string }>(
        sql`SELECT root_id FROM threads WHERE conversation_id = ${letters}`,
      )
      for (let left = 1_200; left > 0; left--)
        await tx.run(
          sql`INSERT INTO messages (id, conversation_id, root_id, posted_by, role, content, path, depth, status, created_at)
           VALUES (${randomUUID()}, ${letters}, ${root!.root_id}, ${ada.id}, 'user', 'four', ${`10x${randomUUID()}`}, 1, 'complete', 1)`,
        )
    })
    const expected = await renewed('user')
    const context = innerState(service)
    // Each turn of the task is over at once: it goes on in the next one, on whichever node.
    now += HOUR + 1
    let turns = 0
    for (const isDone = { done: false }; !isDone.done; turns++) {
      let batches = 0
      const isOver = () => ++batches > 1
      const run = { key: '', detail: {}, signal: new AbortController().signal, isOver }
      const ctx = turns % 2 === 0 ? context : innerState(node)
      isDone.done = (await sumUp(ctx, run)).done
    }
    // A turn takes what it can in its time.
    expect(turns).toBeGreaterThan(2)
    expect(await list('user')).toEqual({ rows: expected, as_of: toInstant(now) })
  })

  it('is summed up daily without a reader', async () => {
    await renewed('user')
    const asOfAfter = async (passed: number) => {
      now += passed
      await renewDaily(innerState(node))
      await service.idle()
      return (await findDone(database()))!.as_of
    }
    const began = now
    expect(await asOfAfter(24 * HOUR)).toBe(began)
    expect(await asOfAfter(1)).toBe(now)
  })

  it('has the old sums if no new ones are there in time, and none is unavailable', async () => {
    const old = await list('user')
    const held = (Date.now() + 3_600_000) * 1000
    await database().run(
      sql`INSERT INTO tasks (id, kind, key, due_at, writer, lease_expires_at) VALUES ('held', 'usage.sum', '', 1, 'another', ${held})`,
    )
    now += HOUR + 1
    expect(await list('user')).toEqual(old)
    await database().run(sql`DELETE FROM usage_rounds`)
    await database().run(sql`DELETE FROM usage_sums`)
    expect(await codeOf(service.chat.usage.list(OPERATOR, { by: 'user' }))).toBe('unavailable')
    await database().run(sql`DELETE FROM tasks WHERE id = 'held'`)
    expect((await list('user')).rows).toEqual(old.rows)
  }, 30_000)

  it('has the old sums on a full disk, at once', async () => {
    const { as_of } = await list('user')
    const context = innerState(service)
    const full = Object.create(context, { write: { value: () => Promise.reject(new ChatError('storage_full')) } })
    now += HOUR + 1
    await renewForReader(full)
    expect(toInstant((await findDone(database()))!.as_of)).toBe(as_of)
    const broken = Object.create(context, { write: { value: () => Promise.reject(new Error('a bug')) } })
    await expect(renewForReader(broken)).rejects.toThrow('a bug')
  })

  it('no longer has users who were erased, nor conversations that were deleted', async () => {
    await ada.conversations.remove(letters)
    expect((await list('conversation')).rows.map(({ key }) => key)).not.toContain(letters)
    await service.chat.users.erase(OPERATOR, grace.id, {})
    expect((await list('user')).rows.map(({ key }) => key)).not.toContain(grace.id)
    await service.idle()
    for (const key of [letters, grace.id])
      expect(await database().all(sql`SELECT n FROM usage_sums WHERE key = ${key}`)).toEqual([])
  })

  it('is for administrators', async () => {
    const eve = await service.signIn('eve')
    expect(await codeOf(eve.usage.list({ by: 'user' }))).toBe('forbidden')
  })
})
