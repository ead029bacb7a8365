import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { findSettings, updateSettings } from '../../../lib/chat/memberships/store-settings.ts'
import { sql, statement } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { codeOf, innerState, PASSWORD, type Person, startService } from '../../support/service.ts'
import { openStream, signInByHand, type TestStream } from '../../support/stream.ts'

describeOnEachDatabase("a participant's own settings", (openUrl, dialect) => {
  const service = setUpService(async () =>
    startService(await openUrl(), { config: { session: { max_sessions_per_user: 50 } } }),
  )
  let ada: Person
  let grace: Person
  let reader: Person
  let id: string
  beforeAll(async () => {
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
    reader = await service.signIn('reader', ['read_only'])
    id = (await ada.conversations.create({ title: 'Engines' })).conversation_id
    await ada.participants.add(id, { user_id: grace.id, role: 'viewer' })
    await ada.participants.add(id, { user_id: reader.id })
  })

  async function open(person: Person, conversationId?: string): Promise<TestStream> {
    const headers = await signInByHand(service.base_url, person.email, PASSWORD)
    const stream = await openStream(service.base_url, conversationId, headers)
    onTestFinished(() => stream.close())
    await stream.until('stream.ready')
    return stream
  }

  it('have defaults, are changed one by one, and are seen by no other user', async () => {
    const defaults = { level: 'mentions', archived: false, receipts: true }
    expect(await grace.conversations.settings(id)).toEqual(defaults)
    expect(await grace.conversations.setSettings(id, {})).toEqual(defaults)
    const until = '2099-01-01T00:00:00.000000Z'
    expect(await grace.conversations.setSettings(id, { muted_until: until })).toEqual({
      ...defaults,
      muted_until: until,
    })
    const changed = { ...defaults, level: 'none', muted_until: until, receipts: false }
    expect(await grace.conversations.setSettings(id, { level: 'none', receipts: false })).toEqual(changed)
    expect(await grace.conversations.settings(id)).toEqual(changed)
    expect(await grace.conversations.get(id)).toMatchObject({ level: 'none', muted_until: until })
    expect((await grace.conversations.list({})).conversations).toMatchObject([{ level: 'none', muted_until: until }])
    expect(await ada.conversations.settings(id)).toEqual(defaults)
    expect(JSON.stringify(await ada.conversations.get(id))).not.toContain(until)
    expect(await reader.conversations.setSettings(id, { level: 'all' })).toEqual({ ...defaults, level: 'all' })
    expect(await grace.conversations.setSettings(id, { muted_until: null })).not.toHaveProperty('muted_until')
  })

  it('mute for ever and until an instant, which ends the muting if it is in the past', async () => {
    expect(await ada.conversations.setSettings(id, { muted_until: 'forever' })).toMatchObject({
      muted_until: 'forever',
    })
    const last = { muted_until: '9999-12-31T23:59:59Z' }
    expect(await ada.conversations.setSettings(id, last)).toMatchObject({ muted_until: 'forever' })
    const past = await ada.conversations.setSettings(id, { muted_until: '2020-01-01T00:00:00Z', level: 'none' })
    expect(past).toMatchObject({ level: 'none' })
    for (const settings of [past, await ada.conversations.settings(id), await ada.conversations.get(id)])
      expect(settings).not.toHaveProperty('muted_until')
    await innerState(service).db.run(sql`UPDATE participants SET muted_until = 1 WHERE user_id = ${ada.id}`)
    expect(await ada.conversations.settings(id)).not.toHaveProperty('muted_until')
  })

  it('arrive on the own streams of all conversations only', async () => {
    const [own, ofOne, others] = [await open(grace), await open(grace, id), await open(ada)]
    await Promise.all([1, 2].map(() => grace.conversations.setSettings(id, {})))
    for (const level of ['all', 'none', 'mentions'] as const) {
      const settings = await grace.conversations.setSettings(id, { level })
      const { event } = (await own.until('settings.update', hasLevel(level))).at(-1)!
      expect(event.payload).toEqual({ conversation_id: id, settings })
    }
    await ada.messages.postRoot(id, { content: 'the end' })
    expect((await ofOne.until('message.new')).filter(({ event }) => event.type === 'settings.update')).toEqual([])
    // Another node may tell ada of her own earlier changes only now.
    const settings = await ada.conversations.settings(id)
    const told = (await others.until('message.new')).filter(({ event }) => event.type === 'settings.update')
    for (const { event } of told) expect(event.payload).toEqual({ conversation_id: id, settings })
  })

  it('are the stored ones in an event of another node that arrives late', async () => {
    const own = await open(ada)
    const before = await ada.conversations.settings(id)
    const settings = await ada.conversations.setSettings(id, { level: 'none' })
    await own.until('settings.update', hasLevel('none'))
    const payload = { conversation_id: id, settings: before }
    const late = { conversation_id: '', user_ids: [ada.id], event: { type: 'settings.update' as const, payload } }
    // One of them has the stream.
    for (const node of service.nodes) innerState(node).streams.hub.receive([late])
    expect((await own.until('settings.update')).at(-1)!.event.payload).toEqual({ conversation_id: id, settings })
    await ada.conversations.setSettings(id, { level: 'mentions' })
  })

  it('archive a conversation until the participant posts in it, or is notified', async () => {
    const other = (await ada.conversations.create({ title: 'Other' })).conversation_id
    const { root_id } = await ada.messages.postRoot(other, { content: 'Hi' })
    const list = async (archived?: 'true' | 'false' | 'all') =>
      (await ada.conversations.list(archived ? { archived } : {})).conversations.map(({ title }) => title)
    await ada.conversations.setSettings(other, { archived: true })
    expect([await list(), await list('false')]).toEqual([['Engines'], ['Engines']])
    expect(await list('true')).toEqual(['Other'])
    expect((await ada.conversations.list({ archived: 'true' })).conversations).toMatchObject([{ archived: true }])
    expect(await list('all')).toEqual(['Other', 'Engines'])
    await ada.participants.add(other, { user_id: grace.id })
    // It notifies her of nothing.
    await grace.messages.postRoot(other, { content: 'Hello' })
    expect(await list('true')).toEqual(['Other'])
    expect((await grace.conversations.list({})).conversations).toHaveLength(2)
    await ada.messages.reply(root_id, { content: 'Here I am' })
    expect([await list(), await list('true')]).toEqual([['Other', 'Engines'], []])
    expect(await ada.conversations.get(other)).not.toHaveProperty('archived')
    await ada.conversations.setSettings(other, { archived: true })
    await grace.messages.reply(root_id, { content: 'Come back' })
    expect([await list(), await list('true')]).toEqual([['Other', 'Engines'], []])
  })

  it('arrive on the own streams when a post of one’s own shows an archived conversation again', async () => {
    const other = (await ada.conversations.create({ title: 'Shelved' })).conversation_id
    const { root_id } = await ada.messages.postRoot(other, { content: 'Hi' })
    await ada.conversations.setSettings(other, { level: 'all', muted_until: 'forever' })
    const own = await open(ada)
    const isArchived = (archived: boolean) => (event: object) =>
      JSON.stringify(event).includes(other) && JSON.stringify(event).includes(`"archived":${archived}`)
    for (const _ of [1, 2]) {
      await ada.conversations.setSettings(other, { archived: true })
      await own.until('settings.update', isArchived(true))
      await Promise.all([1, 2].map((each) => ada.messages.reply(root_id, { content: `Here I am, ${each}` })))
      const settings = await ada.conversations.settings(other)
      expect(settings).toEqual({ level: 'all', muted_until: 'forever', archived: false, receipts: true })
      const { event } = (await own.until('settings.update', isArchived(false))).at(-1)!
      expect(event.payload).toEqual({ conversation_id: other, settings })
    }
    await ada.messages.reply(root_id, { content: 'the end' })
    const rest = await own.until('message.new', (event) => JSON.stringify(event).includes('the end'))
    expect(rest.map(({ event }) => event.type)).not.toContain('settings.update')
  })

  it.runIf(dialect === 'postgresql')(
    'arrive on the own streams when a notification shows a conversation that is archived at the same moment',
    async () => {
      const { write } = innerState(service)
      const { conversation_id: other } = await ada.conversations.create({ title: 'Archived' })
      await ada.participants.add(other, { user_id: grace.id })
      const own = await open(ada)
      let posting: Promise<unknown> | undefined
      // As the call does it, but slower.
      await write(async (tx) => {
        await findSettings(tx, other, ada.id, { lock: true })
        posting = grace.messages.postRoot(other, { content: 'Hi @ada' })
        const waits = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        while (!(await tx.get(statement(waits))));
        await updateSettings(tx, other, ada.id, { archived: 1 })
      })
      await posting
      const told = await own.until('notification.new')
      const settings = await ada.conversations.settings(other)
      expect(settings.archived).toBe(false)
      expect(told.map(({ event }) => event)).toContainEqual({
        type: 'settings.update',
        payload: { conversation_id: other, settings },
      })
    },
  )

  it('are refused to strangers and parts of the host', async () => {
    const eve = await service.signIn('eve')
    expect(await codeOf(eve.conversations.settings(id))).toBe('not_found')
    expect(await codeOf(eve.conversations.setSettings(id, { archived: true }))).toBe('not_found')
    const { conversations } = service.chat
    const system = await service.chat.system('orders')
    expect(await codeOf(conversations.settings(system, id))).toBe('forbidden')
    expect(await codeOf(conversations.setSettings(system, id, {}))).toBe('forbidden')
  })

  it('begin again with the defaults for a participant who was removed', async () => {
    await grace.conversations.setSettings(id, { level: 'none', archived: true, receipts: false })
    await ada.participants.remove(id, grace.id)
    await ada.participants.add(id, { user_id: grace.id })
    expect(await grace.conversations.settings(id)).toEqual({ level: 'mentions', archived: false, receipts: true })
  })
})

const hasLevel = (level: string) => (event: object) => JSON.stringify(event).includes(`"level":"${level}"`)
