import { afterEach, expect, it, vi } from 'vitest'
import type { EventAfter } from '../../lib/index.ts'
import { openStorage } from '../../lib/index.ts'
import { splitLines } from '../../lib/storage/archive/lines.ts'
import { beginHistory, ensureHistory, listHistories, parseHistories, toEventName } from '../../lib/storage/histories.ts'
import { sql } from '../../lib/storage/sql.ts'
import { createSqliteFile, describeOnEachDatabase, describeOnEachEmptyDatabase } from '../support/databases.ts'
import { innerState, startService, times } from '../support/service.ts'

const EPOCH = '0198c0de-0000-7000-8000-000000000000'

afterEach(() => void vi.useRealTimers())

it('names an event by the history in which it was written, so that its order is that of the text', () => {
  const histories = [
    { first_id: 0, name: `0${'a'.repeat(31)}`, epoch: EPOCH },
    { first_id: 100, name: `0${'b'.repeat(31)}`, epoch: EPOCH },
  ]
  const names = [0, 9, 10, 35, 36, 99, 100, 2 ** 53 - 1].map((id) => toEventName(histories, id))
  expect(names.toSorted()).toEqual(names)
  expect(new Set(names).size).toBe(names.length)
  for (const name of names) expect(name).toMatch(/^evt_[a-z0-9_]{1,60}$/)
  expect(names[5]).toContain('aaa')
  expect(names[6]).toContain('bbb')
})

it.each([
  '',
  'x',
  '{}',
  '[1]',
  '[{"first_id":0}]',
  `[{"first_id":-0.5,"name":"${'a'.repeat(32)}","epoch":"${EPOCH}"}]`,
  `[{"first_id":0,"name":"${'A'.repeat(32)}","epoch":"${EPOCH}"}]`,
])('takes no histories from a text that the service has not written: %s', (text) => {
  expect(parseHistories(text)).toEqual([])
})

describeOnEachDatabase('the histories of a database', (openUrl) => {
  it('begins one for a new epoch behind the last event, with a greater name even when the clock was set back', async () => {
    const url = await openUrl()
    const service = await startService(url)
    const ada = await service.signIn('ada')
    await ada.conversations.create({ title: 'one' })
    const { db } = innerState(service)
    const [first] = await listHistories(db)
    expect(first).toMatchObject({ first_id: 0 })
    await ensureHistory(db)
    expect(await listHistories(db)).toEqual([first])
    vi.useFakeTimers({ now: new Date('2020-01-01T00:00:00Z'), toFake: ['Date'] })
    await db.run(sql`UPDATE meta SET value = ${EPOCH} WHERE name = 'epoch'`)
    await Promise.all(times(4, () => ensureHistory(db)))
    vi.useRealTimers()
    const [, second, ...more] = await listHistories(db)
    expect(more).toEqual([])
    const last = (await db.get<{ id: number }>(sql`SELECT max(id) AS id FROM events`))!.id
    expect(second).toMatchObject({ first_id: last + 1, epoch: EPOCH })
    expect(second!.name > first!.name).toBe(true)
    // A history without a stored event is forgotten, the last one never.
    await db.run(sql`DELETE FROM events WHERE id < ${last}`)
    await db.write((tx) => beginHistory(tx, { force: true }))
    expect((await listHistories(db)).map(({ name }) => name)).toEqual([first!.name, expect.any(String)])
    await db.run(sql`DELETE FROM events`)
    await db.write((tx) => beginHistory(tx, { force: true }))
    expect(await listHistories(db)).toHaveLength(1)
    await service.close()
  })

  it('gives each event that a host gets an id of its own, which a restored database never gives again', async () => {
    const url = await openUrl()
    const events: EventAfter[] = []
    const hooks = { afterEvent: (event: EventAfter) => void events.push(event) }
    const before = await startService(url, { ports: { hooks } })
    const ada = await before.signIn('ada')
    const { conversation_id } = await ada.conversations.create({ title: 'one' })
    for (const n of times(3, (n) => n)) await ada.messages.postRoot(conversation_id, { content: `${n}` })
    await before.chat.idle()
    const ids = events.map(({ id }) => id)
    expect(ids.toSorted()).toEqual(ids)
    expect(new Set(ids).size).toBe(ids.length)
    // As a dump of a moment before the last two posts.
    const { db } = innerState(before)
    const { id } = (await db.get<{ id: number }>(sql`SELECT max(id) AS id FROM events`))!
    await before.close()
    const storage = await openStorage({ database: url })
    await storage.db.run(sql`DELETE FROM events WHERE id > ${id - 4}`)
    await storage.db.run(
      sql`UPDATE conversations SET last_seq = coalesce((SELECT max(e.seq) FROM events e WHERE e.conversation_id = conversations.id), 0)`,
    )
    if (storage.db.dialect === 'sqlite')
      await storage.db.run(sql`UPDATE sqlite_sequence SET seq = ${id - 4} WHERE name = 'events'`)
    else await storage.db.get(sql`SELECT setval(pg_get_serial_sequence('events', 'id'), ${id - 4})`)
    await storage.renewEpoch()
    await storage.close()
    const after = await startService(url, { ports: { hooks } })
    const actor = await after.chat.users.actor(ada.id)
    await after.chat.messages.postRoot(actor, conversation_id, { content: 'again' })
    await after.chat.idle()
    const all = events.map((event) => event.id)
    expect(all.length).toBeGreaterThan(ids.length)
    expect(new Set(all).size).toBe(all.length)
    expect(all.toSorted()).toEqual(all)
    await after.close()
  })
})

describeOnEachEmptyDatabase('an archive', (openUrl) => {
  it('brings the events back with their ids, and begins a history for the next ones', async () => {
    const source = await createSqliteFile()
    const before = await startService(source.url)
    const ada = await before.signIn('ada')
    await ada.conversations.create({ title: 'one' })
    const { db } = innerState(before)
    const histories = await listHistories(db)
    await before.close()
    const from = await openStorage({ database: source.url })
    let archive = ''
    await from.export((lines) => {
      archive += lines
    })
    await from.close()
    const to = await openStorage({ database: await openUrl() })
    await to.migrate()
    await to.import(splitLines(new Blob([archive]).stream()))
    const imported = await listHistories(to.db)
    expect(imported.slice(0, -1)).toEqual(histories)
    const { last } = (await to.db.get<{ last: number }>(sql`SELECT max(id) AS last FROM events`))!
    expect(imported.at(-1)!.first_id).toBe(last + 1)
    await to.close()
    await source.remove()
  })
})
