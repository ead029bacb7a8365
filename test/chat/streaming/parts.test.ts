import { beforeAll, expect, it } from 'vitest'
import { type ChatClient, createChatClient } from '../../../lib/client/index.ts'
import type { Actor, MessageBefore } from '../../../lib/index.ts'
import { checkedFetch } from '../../support/answers.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { codeOf, type Person, startService } from '../../support/service.ts'

const SOURCE = { type: 'source' as const, url: 'https://example.com/a', title: 'A', range: [0, 2] }

describeOnEachDatabase('parts of messages that a bot streams', (openUrl) => {
  let hook: ((message: MessageBefore) => { refuse: string } | { content: string } | undefined) | undefined
  const asked: MessageBefore[] = []
  /** As many chunks as a test sends, at once. */
  let ahead = 0
  const service = setUpService(async () =>
    startService(await openUrl(), {
      config: {
        bots: { enabled: true, messages_per_min: 10_000, max_streaming: 50 },
        attachments: { enabled: true },
      },
      ports: {
        now: () => Date.now() * 1000 + ahead,
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
  let bot: ChatClient
  let bot_id: string
  let reader: Actor
  let conversation_id: string

  beforeAll(async () => {
    ada = await service.signIn('ada')
    const made = await ada.bots.create({ username: 'writer' })
    bot_id = made.bot.id
    bot = createChatClient({ base_url: service.base_url, api_key: made.key, fetch: checkedFetch, retry_ms: 10 })
    reader = await service.chat.users.actor(ada.id)
    conversation_id = (await ada.conversations.create({ title: 'parts' })).conversation_id
    await ada.participants.add(conversation_id, { user_id: bot_id })
  })

  const begin = async (content = '') =>
    (await bot.messages.postRoot(conversation_id, { content, stream: true })).message_id
  const upload = async (name: string) =>
    (await bot.upload(conversation_id, new Blob([name], { type: 'text/plain' }), { name })).id
  const chunk = (id: string, input: object) => {
    ahead += 1_000_000
    return bot.answers.addChunk(id, input as Parameters<typeof bot.answers.addChunk>[1])
  }

  it('come in the order of the text, as events, as chunks and in the message', async () => {
    const stream = service.chat.events.followAll(reader)
    await stream.next()
    const file = await upload('a.txt')
    const id = await begin('It runs')
    expect(await chunk(id, { idx: 1, part: SOURCE })).toEqual({ status: 'streaming', next_idx: 2 })
    await chunk(id, { idx: 2, part: { type: 'file', attachment_id: file } })
    await chunk(id, { idx: 3, part: { type: 'data', name: 'plan', key: 'a', data: { done: 0 } } })
    await chunk(id, { idx: 4, content: ' well.' })
    await chunk(id, { idx: 5, part: { type: 'data', name: 'plan', key: 'a', data: { done: 1 } } })
    const parts = [
      { id: 0, type: 'text', text: 'It runs' },
      { id: 1, ...SOURCE },
      { id: 2, type: 'file', attachment_id: file, name: 'a.txt', media_type: 'text/plain', size: 5 },
      { id: 3, type: 'data', name: 'plan', key: 'a', data: { done: 1 } },
      { id: 4, type: 'text', text: ' well.' },
    ]
    const attachments = [{ id: file, name: 'a.txt', generated: true }]
    expect(await ada.messages.get(id)).toMatchObject({
      status: 'streaming',
      content: 'It runs well.',
      parts,
      attachments,
    })
    const { message } = await bot.answers.end(id)
    expect(message).toMatchObject({ status: 'complete', content: 'It runs well.', parts, attachments })
    expect((await ada.threads.tree(id)).messages[0]).toMatchObject({ parts })
    const chunks = await ada.answers.listChunks(id)
    expect(chunks.map(({ content, part }) => part?.type ?? content)).toEqual([
      ...['It runs', 'source', 'file', 'data', ' well.', 'data'],
    ])
    const received: unknown[] = []
    for await (const { event } of stream) {
      if (event.type === 'message.part') received.push(event.payload)
      if (event.type === 'message.done') {
        expect(event.payload).toMatchObject({ message: { parts, attachments } })
        break
      }
    }
    expect(received).toMatchObject([
      { message_id: id, root_id: id, conversation_id, idx: 1, part: { id: 1, ...SOURCE } },
      { idx: 2, part: { id: 2, type: 'file', attachment_id: file } },
      { idx: 3, part: { id: 3, data: { done: 0 } } },
      { idx: 5, part: { id: 3, data: { done: 1 } } },
    ])
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('are stored once, and another one for a number is a conflict', async () => {
    const file = await upload('b.txt')
    const id = await begin('B')
    const chunks = [
      { idx: 1, part: SOURCE },
      { idx: 2, part: { type: 'file', attachment_id: file } },
      { idx: 3, part: { type: 'data', name: 'x', data: [1, { a: null }] } },
    ]
    for (const each of chunks) {
      await chunk(id, each)
      expect(await chunk(id, each)).toMatchObject({ next_idx: each.idx + 1 })
    }
    for (const other of [
      { idx: 1, part: { ...SOURCE, title: 'B' } },
      { idx: 2, part: { type: 'file', attachment_id: bot_id } },
      { idx: 3, part: { type: 'data', name: 'x', data: [1] } },
      { idx: 0, part: SOURCE },
      { idx: 1, content: 'B' },
      { idx: 9, part: SOURCE },
    ])
      expect(await codeOf(chunk(id, other))).toBe('conflict')
    await bot.answers.end(id)
    expect(await chunk(id, { idx: 4, part: SOURCE })).toEqual({ status: 'complete', next_idx: 4 })
    expect(await ada.answers.listChunks(id)).toHaveLength(4)
  })

  it.each([
    ['without a type', { name: 'x', data: 1 }],
    ['of a tool', { type: 'tool', name: 'x', call_id: 'y', state: 'done' }],
    ['that is no web address', { type: 'source', url: 'javascript:alert(1)' }],
    ['without an address and a type', { type: 'source', filename: 'a' }],
    ['with a range that ends before it begins', { ...SOURCE, range: [2, 1] }],
    ['without data', { type: 'data', name: 'x' }],
    ['with a number that would be stored as another', { type: 'data', name: 'x', data: { n: 2 ** 60 } }],
    ['of more than a row holds', { type: 'data', name: 'x', data: 'x'.repeat(65_536) }],
  ])('are refused %s', async (_, part) => {
    const id = await begin('C')
    expect(await codeOf(chunk(id, { idx: 1, part }))).toBe('validation_failed')
    expect(await codeOf(chunk(id, { idx: 1, part: SOURCE, content: 'x' }))).toBe('validation_failed')
    expect(await chunk(id, { idx: 1, content: '!' })).toMatchObject({ next_idx: 2 })
    await bot.answers.end(id)
  })

  it('are at most 256', async () => {
    const id = await begin('D')
    const length = 256
    const actor = await service.chat.users.actor(bot_id)
    for (let idx = 1; idx <= length; idx++) {
      ahead += 1_000_000
      await service.chat.answers.addChunk(actor, id, {
        idx,
        part: { type: 'data', name: 'x', key: `k${idx}`, data: 1 },
      })
    }
    const more = (key: string) => chunk(id, { idx: length + 1, part: { type: 'data', name: 'x', key, data: 2 } })
    expect(await codeOf(more('k0'))).toBe('validation_failed')
    expect(await more('k7')).toMatchObject({ next_idx: length + 2 })
    await bot.answers.end(id)
  })

  it('take only files of the bot, which stay beside those of the end', async () => {
    const [first, second] = [await upload('1.txt'), await upload('2.txt')]
    const foreign = (await ada.upload(conversation_id, new Blob(['x']), { name: 'x.txt' })).id
    const id = await begin('E')
    expect(await codeOf(chunk(id, { idx: 1, part: { type: 'file', attachment_id: foreign } }))).toBe('not_found')
    await chunk(id, { idx: 1, part: { type: 'file', attachment_id: first } })
    const other = await begin('F')
    expect(await codeOf(chunk(other, { idx: 1, part: { type: 'file', attachment_id: first } }))).toBe('not_found')
    await bot.answers.end(other)
    asked.length = 0
    const { message } = await bot.answers.end(id, { attachment_ids: [second, first] })
    expect(message.attachments).toMatchObject([{ id: first, generated: true }, { id: second }])
    expect(asked[0]!.attachments).toMatchObject([{ name: '1.txt' }, { name: '2.txt' }])
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('have no values any more once the message is deleted, and are none of another text', async () => {
    const id = await begin('G')
    await chunk(id, { idx: 1, part: SOURCE })
    hook = (message) => (message.streaming ? undefined : { content: 'Other' })
    const { message } = await bot.answers.end(id)
    hook = undefined
    expect(message.content).toBe('Other')
    expect(message).not.toHaveProperty('parts')
    const gone = await begin('H')
    await chunk(gone, { idx: 1, part: SOURCE })
    await bot.answers.end(gone)
    await ada.messages.remove(gone)
    expect(await ada.messages.get(gone)).not.toHaveProperty('parts')
    const chunks = await ada.answers.listChunks(gone)
    expect(JSON.stringify(chunks)).not.toContain('example.com')
  })
})
