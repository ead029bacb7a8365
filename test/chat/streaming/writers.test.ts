import { beforeAll, describe, expect, it, vi } from 'vitest'
import { type ChatClient, createChatClient, type Message, streamMessage } from '../../../lib/client/index.ts'
import type { Actor } from '../../../lib/index.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { checkedFetch } from '../../support/answers.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { codeOf, innerState, type Person, startService } from '../../support/service.ts'

const PATIENT = { timeout: 30_000, interval: 10 }

/** What both ways to stream have. */
interface Stream {
  message_id: string
  signal: AbortSignal
  write(text: string): Promise<void>
  end(input?: { mentions?: { user_ids: string[] }; metadata?: Record<string, unknown> }): Promise<Message>
  fail(): Promise<Message>
}

describeOnEachDatabase('messages that a program streams', (openUrl) => {
  let url: string
  const config = {
    bots: { enabled: true, messages_per_min: 10_000, max_streaming: 2 },
    limits: { message_bytes: 60_000 },
  }
  const service = setUpService(async () => {
    url = await openUrl()
    return startService(url, { config })
  })
  let ada: Person
  let bot_id: string
  let actor: Actor
  let client: ChatClient
  /** Whether the next calls of the client are lost: before or after the service has got them. */
  const lost: ('before' | 'after')[] = []

  beforeAll(async () => {
    ada = await service.signIn('ada')
    const { bot, key } = await ada.bots.create({ username: 'writer' })
    bot_id = bot.id
    actor = await service.chat.users.actor(bot_id)
    const flaky: typeof fetch = async (input, init) => {
      const how = init?.method === 'POST' ? lost.shift() : undefined
      if (how === 'before') throw new TypeError('fetch failed')
      const response = await checkedFetch(input as string, init)
      if (how === 'after') throw new TypeError('terminated')
      return response
    }
    client = createChatClient({ base_url: service.base_url, api_key: key, fetch: flaky })
  })

  async function open(): Promise<string> {
    const { conversation_id } = await ada.conversations.create({ title: 'texts' })
    await ada.participants.add(conversation_id, { user_id: bot_id })
    return conversation_id
  }

  describe.each<[string, (conversation_id: string, input?: { parent_id?: string }) => Promise<Stream>]>([
    ['by the library', (id, input) => service.chat.messages.stream(actor, id, input)],
    ['by a client', (id, input) => streamMessage(client, id, input)],
  ])('%s', (_, begin) => {
    it('have all of their text, whose parts may cut characters', async () => {
      const conversation_id = await open()
      const stream = await begin(conversation_id)
      const text = `${'Zeile 🎉'.repeat(2_500)} Ende`
      for (let at = 0; at < text.length; at += 997) await stream.write(text.slice(at, at + 997))
      const message = await stream.end({ mentions: { user_ids: [ada.id] }, metadata: { tokens: 12 } })
      expect(message).toMatchObject({ status: 'complete', metadata: { tokens: 12 } })
      // Not as a difference of two long texts.
      expect(message.content === text).toBe(true)
      expect(message.mentions?.user_ids).toEqual([ada.id])
      expect((await ada.messages.get(stream.message_id)).content === text).toBe(true)
    })

    it('are replies of which the person who is answered may stop the writing', async () => {
      const conversation_id = await open()
      const { message_id: parent_id } = await ada.messages.postRoot(conversation_id, { content: 'How is it?' })
      const stream = await begin(conversation_id, { parent_id })
      await stream.write('It')
      await vi.waitFor(async () => expect((await ada.messages.get(stream.message_id)).content).toBe('It'), PATIENT)
      expect(await ada.messages.get(stream.message_id)).toMatchObject({ requested_by: ada.id, parent_id })
      await ada.answers.cancel(stream.message_id)
      await vi.waitFor(async () => {
        await stream.write('.')
        expect(stream.signal.aborted).toBe(true)
      }, PATIENT)
      expect(await stream.end()).toMatchObject({ status: 'cancelled', content: 'It' })
    })

    it('fail without a text, and when they are said to', async () => {
      const conversation_id = await open()
      expect(await (await begin(conversation_id)).end()).toMatchObject({ status: 'failed' })
      const stream = await begin(conversation_id)
      await stream.write('So far')
      expect(await stream.fail()).toMatchObject({ status: 'failed', content: 'So far' })
    })

    it('are at most so many of a bot at once', async () => {
      const conversation_id = await open()
      const streams = [await begin(conversation_id), await begin(conversation_id)]
      expect(await codeOf(begin(conversation_id))).toBe('conflict')
      await Promise.all(streams.map((stream) => stream.fail()))
      await (await begin(conversation_id)).fail()
    })

    it('end with the participation of the bot', async () => {
      const conversation_id = await open()
      const stream = await begin(conversation_id)
      await stream.write('Until now')
      await vi.waitFor(
        async () => expect((await ada.messages.get(stream.message_id)).content).toBe('Until now'),
        PATIENT,
      )
      await ada.participants.remove(conversation_id, bot_id)
      expect(await ada.messages.get(stream.message_id)).toMatchObject({ status: 'interrupted', content: 'Until now' })
      await vi.waitFor(async () => {
        await stream.write('more').catch(() => {})
        expect(stream.signal.aborted).toBe(true)
      }, PATIENT)
    })

    it('are refused to persons', async () => {
      const conversation_id = await open()
      const person = await service.chat.users.actor(ada.id)
      expect(await codeOf(service.chat.messages.stream(person, conversation_id))).toBe('forbidden')
      expect(await codeOf(streamMessage(ada, conversation_id))).toBe('forbidden')
    })
  })

  it('have failed when the service has refused a chunk of a client', async () => {
    const conversation_id = await open()
    const stream = await streamMessage(client, conversation_id)
    for (const part of ['a', 'b', 'c', 'd', 'e']) await stream.write(part.repeat(15_000)).catch(() => {})
    expect(await codeOf(stream.end())).toBe('validation_failed')
    expect(stream.signal.aborted).toBe(true)
    expect(await ada.messages.get(stream.message_id)).toMatchObject({ status: 'failed' })
  })

  it('are sent on by a client through lost calls, each chunk once', async () => {
    const conversation_id = await open()
    lost.push('after')
    const stream = await streamMessage(client, conversation_id)
    lost.push('before', 'after', 'after')
    await stream.write('One, ')
    await stream.write('two, ')
    await stream.write('three')
    lost.push('after')
    expect(await stream.end()).toMatchObject({ status: 'complete', content: 'One, two, three' })
    expect((await ada.messages.list(conversation_id)).messages).toHaveLength(1)
  })

  it('are interrupted when the service stops, and not begun in a transaction of the host', async () => {
    const conversation_id = await open()
    const other = await startService(url, { config })
    const stream = await other.chat.messages.stream(actor, conversation_id)
    await stream.write('Half')
    await other.close()
    expect(stream.signal.aborted).toBe(true)
    expect(await ada.messages.get(stream.message_id)).toMatchObject({ status: 'interrupted', content: 'Half' })
    const { count } = (await innerState(service).db.get<{ count: number }>(
      sql`SELECT count(*) AS count FROM answers_under_way`,
    ))!
    expect(Number(count)).toBe(0)
  })
})
