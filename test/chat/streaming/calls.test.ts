import { beforeAll, expect, it } from 'vitest'
import { createAdminClient } from '../../../lib/client/admin.ts'
import { SECOND } from '../../../lib/core/units.ts'
import type { Actor, MessageBefore } from '../../../lib/index.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { checkedFetch } from '../../support/answers.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpNodes, startNodes } from '../../support/describe-service.ts'
import { codeOf, innerState, type Person, times } from '../../support/service.ts'

/** The clock of the services: it runs on from here. */
let ahead = 0
let held: number | undefined
const now = () => (held ?? Date.now() * 1000) + ahead

describeOnEachDatabase('messages that a bot streams by calls', (openUrl) => {
  let hook: ((message: MessageBefore) => { refuse: string } | { content: string } | undefined) | undefined
  const asked: MessageBefore[] = []
  const [service, node] = setUpNodes(async () =>
    startNodes(await openUrl(), {
      config: {
        bots: { enabled: true, messages_per_min: 10_000, max_streaming: 50 },
        limits: { message_bytes: 40_000 },
      },
      ports: {
        now,
        hooks: {
          beforeMessage: (message) => {
            asked.push(message)
            return hook?.(message)
          },
        },
      },
    }),
  )
  let ada: Person
  let grace: Person
  let eve: Person
  let bot: ReturnType<typeof createAdminClient>
  let elsewhere: ReturnType<typeof createAdminClient>
  let bot_id: string
  let reader: Actor
  let key: string

  beforeAll(async () => {
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
    eve = await service.signIn('eve')
    const made = await ada.bots.create({ username: 'writer' })
    bot_id = made.bot.id
    key = made.key
    const clientOf = (base_url: string) =>
      createAdminClient({ base_url, api_key: key, fetch: checkedFetch, retry_ms: 10 })
    bot = clientOf(service.base_url)
    elsewhere = clientOf(node.base_url)
    reader = await service.chat.users.actor(grace.id)
  })

  /** A conversation of ada, grace and the bot. */
  async function open(): Promise<string> {
    const { conversation_id } = await ada.conversations.create({ title: 'texts' })
    for (const user_id of [grace.id, bot_id]) await ada.participants.add(conversation_id, { user_id })
    return conversation_id
  }

  const chunksOf = async (message_id: string) =>
    (await ada.answers.listChunks(message_id)).map(({ content }) => content)

  const expire = (message_id: string) =>
    innerState(service).db.write((tx) =>
      tx.run(sql`UPDATE answers_under_way SET lease_expires_at = 0 WHERE message_id = ${message_id}`),
    )

  it('grow chunk by chunk on any node, and are complete with their end', async () => {
    const conversation_id = await open()
    const question = await grace.messages.postRoot(conversation_id, { content: 'Does it run?' })
    const stream = node.chat.events.followAll(reader)
    await stream.next()
    const { message_id, message } = await bot.messages.reply(question.message_id, { stream: true })
    expect(message).toMatchObject({
      status: 'streaming',
      content: '',
      role: 'user',
      author_user_id: bot_id,
      author_kind: 'bot',
      requested_by: grace.id,
    })
    expect(await bot.answers.addChunk(message_id, { idx: 0, content: 'It ' })).toEqual({
      status: 'streaming',
      next_idx: 1,
    })
    expect(await elsewhere.answers.addChunk(message_id, { idx: 1, content: 'runs' })).toMatchObject({ next_idx: 2 })
    expect(await bot.answers.addChunk(message_id, { idx: 0, content: '' })).toMatchObject({ next_idx: 2 })
    expect(await grace.messages.get(message_id)).toMatchObject({ status: 'streaming', content: 'It runs' })
    const { message: ended } = await elsewhere.answers.end(message_id, { metadata: { model: 'm1' } })
    expect(ended).toMatchObject({
      status: 'complete',
      content: 'It runs',
      finish_reason: 'stop',
      metadata: { model: 'm1' },
      requested_by: grace.id,
    })
    expect(await bot.answers.end(message_id, { failed: true })).toEqual({ message: ended })
    expect(await bot.answers.addChunk(message_id, { idx: 2, content: '!' })).toEqual({
      status: 'complete',
      next_idx: 2,
    })

    const received: unknown[] = []
    for await (const { event } of stream) {
      if (['message.new', 'message.delta', 'message.done'].includes(event.type)) received.push(event)
      if (event.type === 'message.done') break
    }
    expect(received).toMatchObject([
      { type: 'message.new', payload: { message: { status: 'streaming', content: '', requested_by: grace.id } } },
      { type: 'message.delta', payload: { choices: [{ delta: { content: 'It ' } }] } },
      { type: 'message.delta', payload: { choices: [{ delta: { content: 'runs' } }] } },
      { type: 'message.done', payload: { finish_reason: 'stop', message: { content: 'It runs' } } },
    ])
  })

  it('begin with a first chunk, and once for a key', async () => {
    const conversation_id = await open()
    const begin = (content: string) =>
      bot.messages.postRoot(conversation_id, { content, stream: true }, { headers: { 'idempotency-key': 'one' } })
    const { message_id, message } = await begin('One')
    expect(message).toMatchObject({ content: '', status: 'streaming' })
    expect(await bot.answers.addChunk(message_id, { idx: 1, content: ', two' })).toMatchObject({ next_idx: 2 })
    const { message: ended } = await bot.answers.end(message_id)
    expect(ended.content).toBe('One, two')
    expect(ended).not.toHaveProperty('requested_by')
    expect(await begin('One')).toMatchObject({ message_id, idempotency_replayed: 'true', message: ended })
    expect(await codeOf(begin('Other'))).toBe('idempotency_mismatch')
  })

  it('are refused to persons, and unknown to outsiders', async () => {
    const conversation_id = await open()
    const outcomes = [
      codeOf(ada.messages.postRoot(conversation_id, { stream: true })),
      codeOf(eve.messages.postRoot(conversation_id, { stream: true })),
    ]
    expect(await Promise.all(outcomes)).toEqual(['forbidden', 'not_found'])
    const { message_id } = await bot.messages.postRoot(conversation_id, { stream: true })
    const calls = (person: Person) => [
      codeOf(person.answers.addChunk(message_id, { idx: 0, content: 'x' })),
      codeOf(person.answers.end(message_id)),
    ]
    expect(await Promise.all(calls(ada))).toEqual(['forbidden', 'forbidden'])
    expect(await Promise.all(calls(eve))).toEqual(['not_found', 'not_found'])
    await bot.answers.end(message_id, { failed: true })
  })

  it('take each number once: the same chunk again is no other, another content and a later number are conflicts', async () => {
    const conversation_id = await open()
    const { message_id } = await bot.messages.postRoot(conversation_id, { stream: true })
    const add = (client: typeof bot, idx: number, content: string) =>
      client.answers.addChunk(message_id, { idx, content })
    const [one, two] = await Promise.all([add(bot, 0, 'a'), add(elsewhere, 0, 'a')])
    expect([one, two]).toEqual([
      { status: 'streaming', next_idx: 1 },
      { status: 'streaming', next_idx: 1 },
    ])
    expect(await Promise.all([codeOf(add(bot, 0, 'b')), codeOf(add(bot, 2, 'c'))])).toEqual(['conflict', 'conflict'])
    const raced = await Promise.allSettled([add(bot, 1, 'x'), add(elsewhere, 1, 'y')])
    expect(raced.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const stored = await chunksOf(message_id)
    expect(stored).toHaveLength(2)
    const { message } = await bot.answers.end(message_id)
    expect(message.content).toBe(stored.join(''))
  })

  it('end once, whatever comes at the same time', async () => {
    const conversation_id = await open()
    for (let round = 0; round < 8; round++) {
      const { message_id } = await bot.messages.postRoot(conversation_id, { content: 'Text', stream: true })
      const end = [
        () => ada.answers.cancel(message_id),
        () => ada.messages.remove(message_id),
        () => expire(message_id).then(() => innerState(node).answers.renewLeases()),
        () => elsewhere.answers.end(message_id),
      ][round % 4]!
      const [, , ...chunks] = await Promise.allSettled([
        bot.answers.end(message_id),
        end(),
        elsewhere.answers.addChunk(message_id, { idx: 1, content: ' more' }),
        bot.answers.addChunk(message_id, { idx: 1, content: ' more' }),
      ])
      await innerState(node).answers.renewLeases()
      const message = await ada.messages.get(message_id)
      expect(message.status).not.toBe('streaming')
      const stored = await chunksOf(message_id)
      if (!message.deleted_at) expect(message.content).toBe(stored.join(''))
      // Both were stored, as one, or neither was.
      const taken = chunks.filter((each) => each.status === 'fulfilled' && each.value.status === 'streaming')
      if (!message.deleted_at) expect(stored).toEqual(taken.length > 0 ? ['Text', ' more'] : ['Text'])
      const done = await innerState(service).db.all(
        sql`SELECT 1 AS one FROM events WHERE message_id = ${message_id} AND type = 'message.done'`,
      )
      expect(done).toHaveLength(1)
    }
  })

  it('are stopped by the bot, by moderators, and by the person whom they answer, who gets no other right', async () => {
    const conversation_id = await open()
    const question = await grace.messages.postRoot(conversation_id, { content: 'Why?' })
    const begin = async () =>
      (await bot.messages.reply(question.message_id, { content: 'So', stream: true })).message_id
    for (const person of [grace, ada]) {
      const message_id = await begin()
      expect(await person.answers.cancel(message_id)).toEqual({ message_id, status: 'cancelled' })
      expect(await bot.answers.addChunk(message_id, { idx: 1, content: '!' })).toMatchObject({ status: 'cancelled' })
      expect(await person.messages.get(message_id)).toMatchObject({ status: 'cancelled', content: 'So' })
    }
    const message_id = await begin()
    const refused = [
      codeOf(grace.messages.remove(message_id)),
      codeOf(grace.messages.edit(message_id, { content: 'x' })),
    ]
    expect(await Promise.all(refused)).toEqual(['forbidden', 'forbidden'])
    expect(await bot.answers.cancel(message_id)).toMatchObject({ status: 'cancelled' })
    // Of a root the bot answers no person.
    const root = await bot.messages.postRoot(conversation_id, { content: 'So', stream: true })
    expect(await codeOf(grace.answers.cancel(root.message_id))).toBe('forbidden')
    await bot.answers.end(root.message_id)
  })

  it('mention and notify with their end, and once', async () => {
    const conversation_id = await open()
    const before = (await grace.notifications.list()).unread
    const { message_id } = await bot.messages.postRoot(conversation_id, { content: 'Hello @grace', stream: true })
    expect((await grace.notifications.list()).unread).toBe(before)
    const { message } = await bot.answers.end(message_id)
    expect(message.mentions).toEqual({ user_ids: [grace.id] })
    await bot.answers.end(message_id)
    const { notifications, unread } = await grace.notifications.list()
    expect(unread).toBe(before + 1)
    expect(notifications[0]).toMatchObject({ kind: 'mention', message_id, actor_user_id: bot_id })
  })

  it('fail without visible text, when they are said to, and after their time', async () => {
    const conversation_id = await open()
    const begin = async (content = '') =>
      (await bot.messages.postRoot(conversation_id, { content, stream: true })).message_id
    const end = async (message_id: string, input = {}) => (await bot.answers.end(message_id, input)).message
    expect(await end(await begin())).toMatchObject({ status: 'failed', failure: 'empty_answer' })
    expect(await end(await begin('x'), { failed: true })).toMatchObject({ status: 'failed', failure: 'provider_error' })
    const [late, later] = [await begin('Text'), await begin('Text')]
    ahead += 601 * SECOND
    expect(await bot.answers.addChunk(late, { idx: 1, content: '!' })).toEqual({ status: 'failed', next_idx: 1 })
    expect(await end(later)).toMatchObject({ status: 'failed', failure: 'timeout', content: 'Text' })
  })

  it('are interrupted half a minute after the last call', async () => {
    const conversation_id = await open()
    const { message_id } = await bot.messages.postRoot(conversation_id, { content: 'Text', stream: true })
    await innerState(node).answers.renewLeases()
    expect(await ada.messages.get(message_id)).toMatchObject({ status: 'streaming' })
    await expire(message_id)
    await bot.answers.addChunk(message_id, { idx: 0, content: '' })
    await innerState(node).answers.renewLeases()
    expect(await ada.messages.get(message_id)).toMatchObject({ status: 'streaming' })
    await expire(message_id)
    await innerState(node).answers.renewLeases()
    expect(await ada.messages.get(message_id)).toMatchObject({ status: 'interrupted', content: 'Text' })
    expect((await grace.notifications.list()).notifications.some((one) => one.message_id === message_id)).toBe(false)
  })

  it('are bounded: the size of a chunk and of all, their pace, and what belongs to the end', async () => {
    const conversation_id = await open()
    const { message_id } = await bot.messages.postRoot(conversation_id, { stream: true })
    const add = (idx: number, content: string) => bot.answers.addChunk(message_id, { idx, content })
    expect(await codeOf(add(0, '€'.repeat(6000)))).toBe('validation_failed')
    for (const idx of [0, 1]) await add(idx, 'x'.repeat(16 * 1024))
    expect(await codeOf(add(2, 'x'.repeat(16 * 1024)))).toBe('validation_failed')
    expect(await add(2, 'x')).toMatchObject({ next_idx: 3 })
    await bot.answers.end(message_id)

    const fast = (await bot.messages.postRoot(conversation_id, { stream: true })).message_id
    held = Date.now() * 1000
    const fetched = await Promise.all(
      times(40, (idx) =>
        fetch(`${service.base_url}/api/messages/${fast}/chunks`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ idx: 0, content: idx === 0 ? 'x' : '' }),
        }).then(({ status }) => status),
      ),
    )
    held = undefined
    expect(new Set(fetched)).toEqual(new Set([200, 429]))
    await bot.answers.end(fast)

    const refused = [{ role: 'assistant' as const }, { mentions: { user_ids: [grace.id] } }, { variant_of: message_id }]
    for (const more of refused)
      expect(await codeOf(bot.messages.postRoot(conversation_id, { stream: true, ...more }))).toBe('validation_failed')
    expect(await codeOf(bot.messages.postRoot(conversation_id, {}))).toBe('validation_failed')
    expect(await codeOf(bot.answers.addChunk(fast, { idx: 0, content: 'x', part: {} } as never))).toBe(
      'validation_failed',
    )
  })

  it('show the host their beginning and all of their text, which it may refuse or change', async () => {
    const conversation_id = await open()
    hook = ({ content }) =>
      content.includes('spam') ? { refuse: 'No spam.' } : content.includes('4711') ? { content: '****' } : undefined
    try {
      asked.length = 0
      const begin = async (content: string) =>
        (await bot.messages.postRoot(conversation_id, { content, stream: true })).message_id
      expect(await codeOf(begin('spam'))).toBe('forbidden')
      const refused = await begin('sp')
      await bot.answers.addChunk(refused, { idx: 1, content: 'am' })
      const { message } = await bot.answers.end(refused)
      expect(message).toMatchObject({ content: '', delete_reason: 'No spam.' })
      expect(asked.map(({ content, streaming, message_id }) => ({ content, streaming, message_id }))).toEqual([
        { content: 'spam', streaming: true, message_id: undefined },
        { content: 'sp', streaming: true, message_id: undefined },
        { content: 'spam', streaming: undefined, message_id: refused },
      ])
      expect(await codeOf(bot.messages.restore(refused))).toBe('forbidden')
      const changed = await begin('47')
      await bot.answers.addChunk(changed, { idx: 1, content: '11' })
      expect((await bot.answers.end(changed)).message.content).toBe('****')
      expect(await chunksOf(changed)).toEqual(['****'])
    } finally {
      hook = undefined
    }
  })

  it('are streamed by a part of the host, too', async () => {
    const conversation_id = await open()
    const actor = await service.chat.system('host')
    const { message_id } = await service.chat.messages.postRoot(actor, conversation_id, { stream: true })
    expect(await service.chat.answers.addChunk(actor, message_id, { idx: 0, content: 'x' })).toMatchObject({
      next_idx: 1,
    })
    expect((await service.chat.answers.end(actor, message_id)).message).toMatchObject({ role: 'system', content: 'x' })
  })
})
