import { beforeAll, expect, it } from 'vitest'
import { createAdminClient } from '../../../lib/client/admin.ts'
import { MINUTE, SECOND } from '../../../lib/core/units.ts'
import type { Actor, EventAfter } from '../../../lib/index.ts'
import { exportArchive } from '../../../lib/storage/archive/export.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { checkedFetch } from '../../support/answers.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpNodes, startNodes } from '../../support/describe-service.ts'
import { codeOf, innerState, type Person, times } from '../../support/service.ts'

/** The clock of the services: it runs on from here. */
let ahead = 0
const now = () => Date.now() * 1000 + ahead

/** A text that must be found nowhere but where its reader reads. */
const CANARY = 'kestrel-4711'

describeOnEachDatabase('notices', (openUrl) => {
  const heard: EventAfter[] = []
  const [service, node] = setUpNodes(async () =>
    startNodes(await openUrl(), {
      config: { bots: { enabled: true, messages_per_min: 1000 } },
      ports: { now, hooks: { afterEvent: (event) => void heard.push(event) } },
    }),
  )
  let ada: Person
  let grace: Person
  let eve: Person
  let bot: ReturnType<typeof createAdminClient>
  let bot_id: string
  let host: Actor
  let reader: Actor
  let other: Actor

  beforeAll(async () => {
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
    eve = await service.signIn('eve')
    const made = await ada.bots.create({ username: 'deploys' })
    bot_id = made.bot.id
    bot = createAdminClient({ base_url: node.base_url, api_key: made.key, fetch: checkedFetch, retry_ms: 10 })
    host = await service.chat.system('host')
    reader = await service.chat.users.actor(grace.id)
    other = await service.chat.users.actor(ada.id)
  })

  /** A conversation of ada, grace and the bot. */
  async function open(): Promise<string> {
    const { conversation_id } = await ada.conversations.create({ title: 'deploys' })
    for (const user_id of [grace.id, bot_id]) await ada.participants.add(conversation_id, { user_id })
    return conversation_id
  }

  const position = async (actor: Actor) => (await service.chat.feed.read(actor)).position
  const typesAfter = async (actor: Actor, after: string, chat = service.chat) =>
    (await chat.feed.read(actor, { after })).events.map(({ type }) => type)

  it('are read by their one reader, in the list, the feed and the stream of all conversations', async () => {
    const conversation_id = await open()
    const after = await position(reader)
    const stream = node.chat.events.followAll(reader)
    const ready = await stream.next()
    const { notice } = await bot.notices.create(conversation_id, { user_id: grace.id, content: 'It has failed.' })
    expect(notice).toMatchObject({
      conversation_id,
      user_id: grace.id,
      author_user_id: bot_id,
      content: 'It has failed.',
    })
    expect(Date.parse(notice.expires_at) - Date.parse(notice.created_at)).toBe(3_600_000)
    expect(await grace.notices.list(conversation_id)).toEqual({ notices: [notice] })
    expect(await ada.notices.list(conversation_id)).toEqual({ notices: [] })

    const { events } = await service.chat.feed.read(reader, { after })
    expect(events).toMatchObject([{ type: 'notice.new', conversation_id, data: { notice } }])
    expect(events[0]).not.toHaveProperty('seq')
    const live = await nextOf(stream, 'notice.new')
    expect(live).toMatchObject({ conversation_id, event: { payload: { notice } } })
    expect(live).not.toHaveProperty('seq')
    await stream.return(undefined)

    // A stream that resumes gets it again, on either node. The position that its id names may be written otherwise:
    // on PostgreSQL it lists the transactions that were open when it was read.
    const { last_event_id } = (ready.value as { event: { payload: { last_event_id: string } } }).event.payload
    for (const { chat } of [service, node]) {
      const again = chat.events.followAll(reader, { last_event_id })
      expect(await nextOf(again, 'notice.new')).toMatchObject({ conversation_id, event: { payload: { notice } } })
      await again.return(undefined)
    }
  })

  it('wake a waiting call of the feed of their reader, on another node, and none of another user', async () => {
    const conversation_id = await open()
    const [mine, theirs] = [await position(reader), await position(other)]
    const waiting = service.chat.feed.read(reader, { after: mine, wait_seconds: 50 })
    const quiet = service.chat.feed.read(other, { after: theirs, wait_seconds: 1 })
    await bot.notices.create(conversation_id, { user_id: grace.id, content: 'Wake up.' })
    expect((await waiting).events).toMatchObject([{ type: 'notice.new' }])
    expect((await quiet).events).toEqual([])
  })

  it('have no number in the conversation: its stream goes on without a gap', async () => {
    const conversation_id = await open()
    await grace.messages.postRoot(conversation_id, { content: 'one' })
    const { db } = innerState(service)
    const lastOf = async () =>
      (await db.get<{ last_seq: number }>(sql`SELECT last_seq FROM conversations WHERE id = ${conversation_id}`))!
        .last_seq
    const before = await lastOf()
    const stream = service.chat.events.follow(reader, conversation_id)
    const ready = (await stream.next()).value!
    const { notice } = await bot.notices.create(conversation_id, { user_id: grace.id, content: 'apart' })
    expect(await lastOf()).toBe(before)
    await grace.messages.postRoot(conversation_id, { content: 'two' })
    const next = await nextOf(stream, 'message.new')
    expect(next.seq).toBeGreaterThan(before)
    await stream.return(undefined)
    const { last_event_id } = (ready.event as { payload: { last_event_id: string } }).payload
    const resumed = node.chat.events.follow(reader, conversation_id, { last_event_id })
    const types: string[] = []
    for await (const { event } of resumed) {
      types.push(event.type)
      if (event.type === 'message.new') break
    }
    expect(types).not.toContain('notice.new')
    expect(types[0]).toBe('stream.ready')
    await grace.notices.remove(notice.id)
    expect(await service.chat.ops.fsck()).toMatchObject({ findings: [] })
  })

  it('are invisible to every other user, in every exit, and in what the reader searches and reads', async () => {
    const conversation_id = await open()
    const root = await ada.messages.postRoot(conversation_id, { content: 'a thread' })
    const after = await position(other)
    const ofHost = await position(host)
    const heardBefore = heard.length
    const { notice } = await bot.notices.create(conversation_id, {
      user_id: grace.id,
      content: CANARY,
      root_id: root.root_id,
    })
    const outputs: unknown[] = [
      await service.chat.feed.read(other, { after }),
      await service.chat.feed.read(host, { after: ofHost }),
      await ada.notices.list(conversation_id),
      ...(await Promise.all(
        [ada, grace].map(async (person) => [
          await person.messages.list(conversation_id),
          await person.threads.list(conversation_id),
          await person.conversations.list(),
          await person.conversations.get(conversation_id),
          await person.notifications.list(),
          await person.search.messages({ q: CANARY }),
        ]),
      )),
    ]
    const { db } = innerState(service)
    const archive: string[] = []
    await exportArchive(db, (lines) => void archive.push(lines))
    expect(JSON.stringify(outputs) + archive.join('')).not.toContain(CANARY)
    expect(archive.join('')).not.toContain('notice.new')
    for (const person of [ada, eve]) expect(await codeOf(person.notices.remove(notice.id))).toBe('not_found')
    for (const actor of [other, host]) {
      const stream = service.chat.events.followAll(actor, { last_event_id: actor === other ? after : ofHost })
      await ada.messages.postRoot(conversation_id, { content: 'the end' })
      const seen: string[] = []
      for await (const { event } of stream) {
        seen.push(JSON.stringify(event))
        if (event.type === 'message.new') break
      }
      expect(seen.join()).not.toContain(CANARY)
      expect(seen.join()).not.toContain('notice.new')
    }
    // The host hears of it, with its reader, on the node that has made it.
    await service.idle()
    const [event] = heard.slice(heardBefore).filter(({ type }) => type === 'notice.new')
    expect(event).toMatchObject({ for_user_id: grace.id, conversation_id, payload: { notice } })
    expect(event).not.toHaveProperty('seq')
  })

  it('are dismissed by the reader or taken back by the author, once', async () => {
    const conversation_id = await open()
    for (const by of [grace, bot]) {
      const { notice } = await bot.notices.create(conversation_id, { user_id: grace.id, content: 'once' })
      const after = await position(reader)
      const removals = await Promise.allSettled([1, 2, 3].map(() => by.notices.remove(notice.id)))
      expect(removals.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      expect(await codeOf(by.notices.remove(notice.id))).toBe('not_found')
      const { events } = await node.chat.feed.read(reader, { after })
      expect(events).toMatchObject([{ type: 'notice.removed', data: { notice_id: notice.id, conversation_id } }])
      expect(await grace.notices.list(conversation_id)).toEqual({ notices: [] })
    }
  })

  it('end by their time at once, and their rows in the next run of the retention', async () => {
    const conversation_id = await open()
    const after = await position(reader)
    const { notice } = await bot.notices.create(conversation_id, {
      user_id: grace.id,
      content: 'short',
      ttl_seconds: 60,
    })
    ahead += 61 * SECOND
    expect(await grace.notices.list(conversation_id)).toEqual({ notices: [] })
    expect(await typesAfter(reader, after)).toEqual([])
    expect(await codeOf(grace.notices.remove(notice.id))).toBe('not_found')
    ahead += MINUTE
    await service.chat.ops.prune()
    const { db } = innerState(service)
    expect(await db.all(sql`SELECT 1 AS one FROM notices WHERE id = ${notice.id}`)).toEqual([])
    for (const ttl_seconds of [59, 86_401, 60.5])
      expect(await codeOf(bot.notices.create(conversation_id, { user_id: grace.id, content: 'x', ttl_seconds }))).toBe(
        'validation_failed',
      )
  })

  it('are at most a hundred for a participant: the oldest makes way, also for several at once', async () => {
    const conversation_id = await open()
    const create = (content: string) =>
      service.chat.notices.create(host, conversation_id, { user_id: grace.id, content })
    for (const n of times(98, (n) => n)) await create(`${n}`)
    const after = await position(reader)
    await Promise.all(times(6, (n) => create(`at once ${n}`)))
    const { notices } = await grace.notices.list(conversation_id)
    expect(notices).toHaveLength(100)
    expect(notices.filter(({ content }) => content.startsWith('at once'))).toHaveLength(6)
    expect(notices[0]!.content).toBe('4')
    const types = await typesAfter(reader, after)
    expect(types.filter((type) => type === 'notice.removed')).toHaveLength(4)
  })

  it('are hidden while the reader is out, and there again afterwards', async () => {
    const conversation_id = await open()
    const after = await position(reader)
    const { notice } = await bot.notices.create(conversation_id, { user_id: grace.id, content: 'kept' })
    await ada.participants.remove(conversation_id, grace.id)
    expect(await codeOf(grace.notices.list(conversation_id))).toBe('not_found')
    expect(await codeOf(grace.notices.remove(notice.id))).toBe('not_found')
    expect(await typesAfter(reader, after)).not.toContain('notice.new')
    await ada.participants.add(conversation_id, { user_id: grace.id })
    expect(await grace.notices.list(conversation_id)).toEqual({ notices: [notice] })
    expect(await typesAfter(reader, after)).toContain('notice.new')
  })

  it('end with their thread, their author and their conversation', async () => {
    const conversation_id = await open()
    const { root_id } = await ada.messages.postRoot(conversation_id, { content: 'a thread' })
    await bot.notices.create(conversation_id, { user_id: grace.id, content: 'in it', root_id })
    await ada.messages.remove(root_id)
    expect(await grace.notices.list(conversation_id)).toEqual({ notices: [] })

    const made = await ada.bots.create({ username: 'passing' })
    await ada.participants.add(conversation_id, { user_id: made.bot.id })
    const passing = createAdminClient({ base_url: node.base_url, api_key: made.key, fetch: checkedFetch })
    const { notice } = await passing.notices.create(conversation_id, { user_id: grace.id, content: 'by another' })
    const after = await position(reader)
    await ada.bots.remove(made.bot.id)
    expect(await grace.notices.list(conversation_id)).toEqual({ notices: [] })
    const { events } = await service.chat.feed.read(reader, { after, types: 'notice.*' })
    expect(events).toMatchObject([{ type: 'notice.removed', data: { notice_id: notice.id } }])

    await bot.notices.create(conversation_id, { user_id: grace.id, content: 'the last' })
    const before = await position(reader)
    await ada.conversations.remove(conversation_id)
    expect(await codeOf(grace.notices.list(conversation_id))).toBe('not_found')
    expect(await typesAfter(reader, before)).not.toContain('notice.new')
  })

  it('are given by programs alone, to participants, in threads of the conversation', async () => {
    const conversation_id = await open()
    const elsewhere = (await ada.messages.postRoot(await open(), { content: 'elsewhere' })).root_id
    const input = { user_id: grace.id, content: 'hello' }
    expect(await codeOf(ada.notices.create(conversation_id, input))).toBe('forbidden')
    expect(await codeOf(bot.notices.create(conversation_id, { ...input, user_id: eve.id }))).toBe('not_found')
    expect(await codeOf(bot.notices.create(conversation_id, { ...input, root_id: elsewhere }))).toBe('not_found')
    expect(await codeOf(bot.notices.create(conversation_id, { ...input, content: ' \u200b ' }))).toBe(
      'validation_failed',
    )
    const long = 'ä'.repeat(8193)
    expect(await codeOf(bot.notices.create(conversation_id, { ...input, content: long }))).toBe('validation_failed')
    const { conversation_id: hers } = await grace.conversations.create({ title: 'without the bot' })
    expect(await codeOf(bot.notices.create(hers, input))).toBe('not_found')
    const { notice } = await service.chat.notices.create(host, hers, input)
    expect(await grace.notices.list(hers)).toEqual({ notices: [notice] })
  })
})

/** The next event of a type in an iteration. */
async function nextOf(stream: AsyncGenerator<{ event: { type: string } }>, type: string) {
  for (;;) {
    const { value, done } = await stream.next()
    if (done) throw new Error(`The stream ended before ${type}`)
    if (value.event.type === type) return value as { id?: string; seq?: number; event: { type: string } }
  }
}
