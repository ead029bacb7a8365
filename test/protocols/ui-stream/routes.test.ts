import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readEvents } from '../../../lib/client/event-stream.ts'
import { createChatApp } from '../../../lib/http/app.ts'
import { defineTool } from '../../../lib/index.ts'
import type { MessageBefore } from '../../../lib/ports.ts'
import { send } from '../../../lib/protocols/ui-stream/responses.ts'
import type { UiFrame } from '../../../lib/protocols/ui-stream/schema-frames.ts'
import { ANY, call } from '../../assistant/runs/world.ts'
import { checkedFetch } from '../../support/answers.ts'
import { createPuppet } from '../../support/assistant.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import {
  codeOf,
  innerState,
  PASSWORD,
  type ServiceOptions,
  startService,
  startThread,
  type TestService,
} from '../../support/service.ts'
import { type SignedHeaders, signInByHand } from '../../support/stream.ts'

type Frame = UiFrame | '[DONE]'

/** What a client of the AI SDK reads. */
interface Frames {
  response: Response
  next(): Promise<Frame | undefined>
  rest(): Promise<Frame[]>
  leave(): Promise<void>
}

describeOnEachDatabase("the AI SDK's UI message stream", (openUrl) => {
  let url: string
  const services: TestService[] = []
  let puppet: ReturnType<typeof createPuppet>
  let world: Awaited<ReturnType<typeof startThread>>
  let service: TestService
  let own: SignedHeaders

  async function start(options: ServiceOptions = {}) {
    puppet = createPuppet()
    const config = {
      ...options.config,
      assistant: { drain_seconds: 0, ...(options.config as { assistant?: object })?.assistant },
    }
    service = await startService(url, { ...options, config, ports: { assistant: puppet.assistant, ...options.ports } })
    services.push(service)
    world = await startThread(service)
    own = await signInByHand(service.base_url, world.ada.email, PASSWORD)
  }

  beforeEach(async () => {
    url = await openUrl()
  })
  afterEach(async () => {
    for (const each of services.splice(0)) await each.close()
  })

  function read(response: Response): Frames {
    const events = response.body && response.status === 200 ? readEvents(response.body) : undefined
    async function next(): Promise<Frame | undefined> {
      const { value } = (await events?.next()) ?? {}
      return value && (value.data === '[DONE]' ? value.data : JSON.parse(value.data))
    }
    return {
      response,
      next,
      async rest() {
        const frames: Frame[] = []
        for (let frame = await next(); frame; frame = await next()) frames.push(frame)
        return frames
      },
      leave: async () => void (await events?.return(undefined)),
    }
  }

  async function post(path: string, body: unknown, headers: Record<string, string> = {}, base = service.base_url) {
    const all = { 'content-type': 'application/json', ...own, ...headers }
    return read(await checkedFetch(`${base}${path}`, { method: 'POST', headers: all, body: JSON.stringify(body) }))
  }

  const get = async (path: string, headers: Record<string, string> = {}) =>
    read(await checkedFetch(`${service.base_url}${path}`, { headers: { cookie: own.cookie, ...headers } }))

  const user = (text: string, id?: string) => ({ role: 'user', ...(id && { id }), parts: [{ type: 'text', text }] })
  const ask = (chat: string, text: string, more: object = {}) =>
    post('/api/ui/chat', { id: chat, messages: [user(text)], ...more })

  /** Asks, and has the whole answer. */
  async function askAndEnd(chat: string, text: string, more: object = {}) {
    const stream = await ask(chat, text, more)
    const answer = await puppet.asked()
    answer.say(`To ${answer.request.turns.at(-1)!.content}`)
    answer.end()
    const frames = await stream.rest()
    return { frames, id: (frames[0] as { messageId: string }).messageId }
  }

  it('streams an answer: its rows, its end, its headers', async () => {
    await start()
    const stream = await ask('trip', 'Why?')
    expect(stream.response.status).toBe(200)
    const { headers } = stream.response
    expect(headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(headers.get('cache-control')).toMatch(/\bno-cache\b/)
    expect(headers.get('x-accel-buffering')).toBe('no')
    expect(headers.get('x-vercel-ai-ui-message-stream')).toBe('v1')
    const answer = await puppet.asked()
    expect(answer.request.turns.at(-1)?.content).toBe('Why?')
    answer.say('The ')
    expect(await stream.next()).toMatchObject({ type: 'start', messageMetadata: { root_id: expect.any(String) } })
    expect(await stream.next()).toEqual({ type: 'start-step' })
    expect(await stream.next()).toEqual({ type: 'text-start', id: '0' })
    expect(await stream.next()).toEqual({ type: 'text-delta', id: '0', delta: 'The ' })
    answer.say('sky.')
    answer.end()
    expect(await stream.rest()).toEqual([
      { type: 'text-delta', id: '0', delta: 'sky.' },
      { type: 'text-end', id: '0' },
      { type: 'finish-step' },
      { type: 'finish', finishReason: 'stop', messageMetadata: expect.objectContaining({ status: 'complete' }) },
      '[DONE]',
    ])
  })

  it('asks with files, which stay with the question when it is answered again', async () => {
    await start({ config: { attachments: { enabled: true } } })
    const { conversation_id, ada } = world
    const actor = await service.chat.users.actor(ada.id)
    const upload = { name: 'a.txt', bytes: new TextEncoder().encode('text') }
    const { attachment } = await service.chat.attachments.upload(actor, conversation_id, upload)
    const address = `/api/attachments/${attachment.id}/content`
    const question = {
      role: 'user',
      parts: [
        { type: 'file', url: `${service.base_url}${address}`, mediaType: 'text/plain' },
        { type: 'text', text: 'What is it?' },
      ],
    }
    const { id } = await askAndEnd('trip', '', { messages: [question], conversation_id })
    expect(await ada.messages.get(id)).toMatchObject({ prompt: 'What is it?', attachments: [{ id: attachment.id }] })
    const load = async () => (await (await get('/api/ui/chat/trip')).response.json()).messages
    const shown = { type: 'file', url: expect.stringContaining(address), filename: 'a.txt' }
    const said = { type: 'text', text: 'What is it?' }
    const loaded = await load()
    expect(loaded).toMatchObject([
      { id: `${id}:prompt`, role: 'user', parts: [shown, said] },
      { id, parts: [{ type: 'step-start' }, { type: 'text' }] },
    ])
    const copied = { ...shown, url: expect.stringMatching(/\/api\/attachments\/[^/]+\/content$/) }
    const again = { messages: loaded.slice(0, 1), trigger: 'regenerate-message', messageId: id }
    const { id: variant } = await askAndEnd('trip', '', again)
    expect(await load()).toMatchObject([{ id: `${variant}:prompt`, parts: [copied, said] }, { id: variant }])
    const { attachment: more } = await service.chat.attachments.upload(actor, conversation_id, {
      ...upload,
      name: 'b.txt',
    })
    const added = { type: 'file', url: `/api/attachments/${more.id}/content`, mediaType: 'text/plain' }
    const edit = async (...files: object[]) => {
      const edited = [{ ...loaded[0], parts: [...files, { type: 'text', text: 'Who?' }] }]
      const { id: other } = await askAndEnd('trip', '', { messages: edited, messageId: `${id}:prompt` })
      const [message] = await load()
      expect(message.id).toBe(`${other}:prompt`)
      return message.parts.flatMap(({ filename = [] }) => filename)
    }
    expect(await edit(loaded[0].parts[0], added)).toEqual(['a.txt', 'b.txt'])
    expect(await edit(added)).toEqual(['b.txt'])
    expect(await edit()).toEqual([])
  })

  it('answers a message of its own with files again, as it was sent', async () => {
    await start({ config: { attachments: { enabled: true } } })
    const { conversation_id, ada } = world
    const actor = await service.chat.users.actor(ada.id)
    const upload = { name: 'a.txt', bytes: new TextEncoder().encode('text') }
    const { attachment } = await service.chat.attachments.upload(actor, conversation_id, upload)
    const asking = { content: '@assistant look', attachment_ids: [attachment.id] }
    const { message_id } = await ada.messages.postRoot(conversation_id, asking)
    const first = await puppet.asked()
    first.say('I see')
    first.end()
    await service.idle()
    const path = `/api/ui/chat/${message_id}`
    const [question, answer] = (await (await get(path)).response.json()).messages
    expect(question.parts).toMatchObject([{ type: 'file', filename: 'a.txt' }, { text: '@assistant look' }])
    const again = { messages: [question], trigger: 'regenerate-message', messageId: answer.id }
    const { id } = await askAndEnd(message_id, '', again)
    expect((await ada.messages.get(id)).variant_of).toBe(answer.id)
    const loaded = (await (await get(path)).response.json()).messages
    expect(loaded).toMatchObject([
      { id: message_id, parts: question.parts },
      { id, parts: [{ type: 'step-start' }, {}] },
    ])
  })

  it('resumes a running answer from its first row, for any number of readers, and stops it from anywhere', async () => {
    await start()
    expect((await get('/api/ui/chat/trip/stream')).response.status).toBe(204)
    expect((await post('/api/ui/chat/trip/stop', {})).response.status).toBe(204)
    const first = await ask('trip', 'Why?')
    const answer = await puppet.asked()
    answer.say('The ')
    const begin = [await first.next(), await first.next(), await first.next(), await first.next()]
    await first.leave()
    const others = [await get('/api/ui/chat/trip/stream'), await get('/api/ui/chat/trip/stream')]
    const { messageId } = begin[0] as { messageId: string }
    for (const other of others)
      expect([await other.next(), await other.next(), await other.next(), await other.next()]).toEqual(begin)
    // By the id of its root, too.
    const byRoot = await get(`/api/ui/chat/${messageId}/stream`)
    expect(await byRoot.next()).toEqual(begin[0])
    await byRoot.leave()
    expect((await post('/api/ui/chat/trip/stop', { activeStreamId: world.root.message_id })).response.status).toBe(204)
    const stopped = await post('/api/ui/chat/trip/stop', { activeStreamId: messageId })
    expect(stopped.response.status).toBe(202)
    for (const other of others)
      expect(await other.rest()).toEqual([{ type: 'text-end', id: '0' }, { type: 'abort' }, '[DONE]'])
    expect((await get('/api/ui/chat/trip/stream')).response.status).toBe(204)
    expect(await (await get(`/api/messages/${messageId}/ui-stream`)).rest()).toEqual([
      ...begin,
      { type: 'text-end', id: '0' },
      { type: 'abort' },
      '[DONE]',
    ])
  })

  it('stops without a body, and knows no chats of others', async () => {
    await start()
    await (await ask('trip', 'Why?')).leave()
    await puppet.asked()
    const others = await signInByHand(service.base_url, world.eve.email, PASSWORD)
    expect((await post('/api/ui/chat/trip/stop', {}, others)).response.status).toBe(204)
    const { root_id } = (await (await get('/api/ui/chat/trip')).response.json()) as { root_id: string }
    expect((await get(`/api/ui/chat/${root_id}/stream`, others)).response.status).toBe(204)
    expect((await get(`/api/ui/chat/${root_id}`, others)).response.status).toBe(404)
    expect((await get('/api/ui/chat/%00/stream')).response.status).toBe(204)
    const bare = await fetch(`${service.base_url}/api/ui/chat/trip/stop`, { method: 'POST', headers: own })
    expect(bare.status).toBe(202)
  })

  it.each<Record<string, string>>([{ 'content-length': '0' }, {}])(
    'stops without a body where requests of a framework always have a stream (%o)',
    async (more) => {
      await start()
      await (await ask('trip', 'Why?')).leave()
      await puppet.asked()
      const body = new ReadableStream({ start: (controller) => controller.close() })
      const init = { method: 'POST', headers: { ...own, ...more }, body, duplex: 'half' } as const
      const stop = new Request(`${service.base_url}/api/ui/chat/trip/stop`, init)
      expect((await createChatApp(service.chat).fetch(stop)).status).toBe(202)
    },
  )

  it('stops and resumes the answer of the caller, or the one that is named, where others ask in the same thread', async () => {
    await start()
    const { ada, grace } = world
    const root = await ada.messages.postRoot(world.conversation_id, { content: 'A?', role: 'assistant' })
    ;(await puppet.asked()).end()
    await service.idle()
    const askBelow = async (person: typeof ada) => {
      const { message_id } = await person.messages.reply(root.message_id, { content: 'B?', role: 'assistant' })
      await puppet.asked()
      return message_id
    }
    const chat = `/api/ui/chat/${root.message_id}`
    const status = async (id: string) => (await ada.messages.get(id)).status
    const first = await askBelow(ada)
    const second = await askBelow(ada)
    const others = await askBelow(grace)
    const resumed = await get(`${chat}/stream`)
    expect(await resumed.next()).toMatchObject({ type: 'start', messageId: second })
    await resumed.leave()
    const all = async () => [await status(first), await status(second), await status(others)]
    expect((await post(`${chat}/stop`, { activeStreamId: first })).response.status).toBe(202)
    expect(await all()).toEqual(['cancelled', 'streaming', 'streaming'])
    expect((await post(`${chat}/stop`, {})).response.status).toBe(202)
    expect(await all()).toEqual(['cancelled', 'cancelled', 'streaming'])
    for (const id of [second, 'nonsense', 'a\u0000'])
      expect((await post(`${chat}/stop`, { activeStreamId: id })).response.status).toBe(204)
    expect(await status(others)).toBe('streaming')
  })

  it('asks a question with the same id once, and streams its answer from the first row', async () => {
    await start()
    const first = await ask('trip', 'Why?', { messages: [user('Why?', 'q1')] })
    const answer = await puppet.asked()
    answer.say('The sky.')
    answer.end()
    const frames = await first.rest()
    expect(await (await ask('trip', 'Why?', { messages: [user('Why?', 'q1')] })).rest()).toEqual(frames)
    const other = await ask('trip', '', { messages: [user('Else?', 'q1')] })
    expect(other.response.status).toBe(409)
    const keyed = await post(
      '/api/ui/chat',
      { id: 'trip', messages: [user('More?', 'q1')] },
      { 'idempotency-key': 'k' },
    )
    expect(keyed.response.status).toBe(200)
    await keyed.leave()
    ;(await puppet.asked()).end()
  })

  it('regenerates, edits and reads branches', async () => {
    await start()
    const first = await askAndEnd('trip', 'One?')
    const second = await askAndEnd('trip', 'Two?', {
      messages: [user('One?'), { role: 'assistant', id: first.id, parts: [] }, user('Two?')],
    })
    const again = await askAndEnd('trip', '', {
      trigger: 'regenerate-message',
      messageId: second.id,
      messages: [user('One?'), { role: 'assistant', id: first.id, parts: [] }, user('Two?', `${second.id}:prompt`)],
    })
    const edited = await askAndEnd('trip', '', {
      messageId: `${second.id}:prompt`,
      messages: [user('One?'), { role: 'assistant', id: first.id, parts: [] }, user('Three?', `${second.id}:prompt`)],
    })
    expect(edited.frames[0]).toMatchObject({ messageMetadata: { variant_of: second.id } })
    const history = await (await get('/api/ui/chat/trip')).response.json()
    expect(history).toMatchObject({ id: 'trip', root_id: first.id })
    const texts = (messages: { id: string; parts: { text?: string }[] }[]) =>
      messages.map(({ id, parts }) => [id, parts.at(-1)?.text])
    expect(texts(history.messages)).toEqual([
      [`${first.id}:prompt`, 'One?'],
      [first.id, 'To One?'],
      [`${edited.id}:prompt`, 'Three?'],
      [edited.id, 'To Three?'],
    ])
    expect(history.messages[3].metadata).toMatchObject({
      status: 'complete',
      generated: true,
      variants: [second.id, again.id, edited.id],
    })
    const branch = await (await get(`/api/ui/chat/trip?leaf=${again.id}`)).response.json()
    expect(texts(branch.messages).slice(2)).toEqual([
      [`${again.id}:prompt`, 'Two?'],
      [again.id, 'To Two?'],
    ])
    const page = await (await get('/api/ui/chat/trip?limit=1')).response.json()
    expect(page.messages.map(({ id }: { id: string }) => id)).toEqual([`${edited.id}:prompt`, edited.id])
    const earlier = await (await get(`/api/ui/chat/trip?before=${page.next_before}`)).response.json()
    expect(earlier.messages.map(({ id }: { id: string }) => id)).toEqual([`${first.id}:prompt`, first.id])
    expect(earlier.next_before).toBeUndefined()
    expect((await get(`/api/ui/chat/trip?leaf=${world.root.message_id}`)).response.status).toBe(404)
  })

  it('leaves out the answer that is written now, but not its question', async () => {
    await start()
    await (await ask('trip', 'Why?')).leave()
    const answer = await puppet.asked()
    const history = await (await get('/api/ui/chat/trip')).response.json()
    expect(history.messages).toEqual([
      expect.objectContaining({
        id: `${history.activeStreamId}:prompt`,
        role: 'user',
        parts: [{ type: 'text', text: 'Why?' }],
      }),
    ])
    answer.end()
  })

  it('lists the chats that were named, latest first', async () => {
    await start()
    await askAndEnd('one', 'First?')
    await askAndEnd('two', 'Second?')
    await askAndEnd('three', 'Third?', { conversation_id: world.conversation_id })
    await askAndEnd('one', 'Again?')
    const { chats } = await (await get('/api/ui/chats')).response.json()
    expect(chats.map(({ id, title }: { id: string; title: string }) => [id, title])).toEqual([
      ['one', 'First?'],
      ['three', 'Third?'],
      ['two', 'Second?'],
    ])
    const page = await (await get('/api/ui/chats?limit=2')).response.json()
    const next = await (await get(`/api/ui/chats?limit=2&after=${page.next_after}`)).response.json()
    expect(next.chats.map(({ id }: { id: string }) => id)).toEqual(['two'])
    expect((await get('/api/ui/chats?after=x')).response.status).toBe(422)
  })

  it('breaks the connection off when the service drains: no client takes that for the end', async () => {
    await start()
    const stream = await ask('trip', 'Why?')
    ;(await puppet.asked()).say('The ')
    await stream.next()
    service.chat.drain()
    await expect(stream.rest()).rejects.toThrow()
  })

  it.each<[string, object, number]>([
    ['no question', { messages: [] }, 422],
    ['an empty question', { messages: [{ role: 'user', parts: [] }] }, 422],
    ['an invisible question', { messages: [{ role: 'user', parts: [{ type: 'text', text: ' ' }] }] }, 422],
    ['an answer at the end', { messages: [{ role: 'assistant', parts: [] }] }, 422],
    ['an unknown trigger', { messages: [], trigger: 'resume-stream' }, 422],
    [
      'a file in a data URL',
      {
        messages: [
          {
            role: 'user',
            parts: [
              { type: 'text', text: 'a' },
              { type: 'file', url: 'data:text/plain,a' },
            ],
          },
        ],
      },
      422,
    ],
    ['a name with a space', { id: 'a b', messages: [] }, 422],
    ['a name of dots', { id: '..', messages: [] }, 422],
    [
      'a message of others',
      {
        messages: [{ role: 'user', parts: [{ type: 'text', text: 'a' }] }],
        messageId: '01890000-0000-7000-8000-000000000000',
      },
      404,
    ],
    [
      'a decision in no chat',
      {
        messages: [
          {
            role: 'assistant',
            id: '01890000-0000-7000-8000-000000000000',
            parts: [
              {
                type: 'dynamic-tool',
                state: 'approval-responded',
                approval: { id: '01890000-0000-7000-8000-000000000000', approved: true },
              },
            ],
          },
        ],
      },
      404,
    ],
  ])('refuses %s', async (_, body, status) => {
    await start()
    const { response } = await post('/api/ui/chat', { id: 'trip', ...body })
    expect([response.status, await response.text()]).toEqual([status, expect.any(String)])
  })

  it('is off with its flag, and features say so', async () => {
    await start({ config: { features: { ui_stream: false } } })
    expect((await ask('trip', 'Why?')).response.status).toBe(404)
    expect((await get('/api/ui/chats')).response.status).toBe(404)
    expect((await get(`/api/messages/${world.root.message_id}/ui-stream`)).response.status).toBe(404)
    expect(await world.ada.capabilities.get()).toMatchObject({ protocols: [] })
  })

  it('takes a history of 2 MiB', async () => {
    await start()
    const long = { role: 'assistant', parts: [{ type: 'text', text: 'a'.repeat(1_900_000) }] }
    expect((await ask('trip', '', { messages: [long, user('Why?')] })).response.status).toBe(200)
    const longer = { role: 'assistant', parts: [{ type: 'text', text: 'a'.repeat(2_100_000) }] }
    expect((await ask('trip', '', { messages: [longer, user('Why?')] })).response.status).toBe(413)
  })

  it('allows pages of other origins to send the version', async () => {
    await start({ config: { server: { cors: { allowed_origins: ['https://app.example.org'] } } } })
    const preflight = await fetch(`${service.base_url}/api/ui/chat`, {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example.org', 'access-control-request-method': 'POST' },
    })
    expect(preflight.headers.get('access-control-allow-headers')?.toLowerCase()).toContain('x-ui-version')
  })

  describe('approvals', () => {
    const tool = (name: string) =>
      defineTool({ description: name, input: ANY, run: async () => `${name} done`, approval: { by: 'asker' } })

    async function startAsking() {
      await start({
        config: { assistant: { tools: ['refund', 'pay'] } },
        ports: {
          tools: { refund: tool('refund'), pay: tool('pay') },
          assistant: async function* ({ step }) {
            if (step === 1) yield* ['Let me.', call('refund'), call('pay')]
            else yield 'Done.'
          },
        },
      })
    }

    const types = (frames: readonly Frame[]) => frames.map((each) => (each === '[DONE]' ? each : each.type))

    interface Approval {
      toolCallId: string
    }

    const responded = (messageId: string, calls: readonly Approval[], approved: readonly boolean[]) => ({
      id: messageId,
      role: 'assistant',
      parts: calls.map(({ toolCallId }, n) => ({
        type: 'dynamic-tool',
        state: 'approval-responded',
        toolCallId,
        approval: { id: toolCallId, approved: approved[n] },
      })),
    })

    it('asks, decides in one request, and streams what follows', async () => {
      await startAsking()
      const asked = await (await ask('trip', 'Why?')).rest()
      const messageId = (asked[0] as { messageId: string }).messageId
      const calls = asked.filter((each) => each !== '[DONE]' && each.type === 'tool-approval-request') as Approval[]
      expect(types(asked).slice(-2)).toEqual(['finish', '[DONE]'])
      expect(asked.at(-2)).toMatchObject({ finishReason: 'tool-calls', messageMetadata: { status: 'waiting' } })
      expect(calls).toHaveLength(2)
      // While it waits, nothing runs, and no other question is asked.
      expect((await get('/api/ui/chat/trip/stream')).response.status).toBe(204)
      expect((await ask('trip', 'Else?')).response.status).toBe(409)
      const history = await (await get('/api/ui/chat/trip')).response.json()
      expect(history.messages[1].parts).toContainEqual(
        expect.objectContaining({
          type: 'dynamic-tool',
          state: 'approval-requested',
          approval: { id: calls[0]!.toolCallId },
        }),
      )

      const body = { id: 'trip', messageId, messages: [user('Why?'), responded(messageId, calls, [true, false])] }
      const rest = await (await post('/api/ui/chat', body)).rest()
      expect(rest[0]).toMatchObject({ type: 'start', messageId })
      expect(types(rest)).toEqual(
        expect.arrayContaining(['tool-output-denied', 'tool-output-available', 'start-step', 'finish']),
      )
      expect(rest.at(-2)).toMatchObject({ finishReason: 'stop' })
      // The same request again: what was decided stays so, and the same frames follow.
      expect(await (await post('/api/ui/chat', body)).rest()).toEqual(rest)
    })

    it('ends at the next wait when only one is decided, and gets the end again when nothing is', async () => {
      await startAsking()
      const asked = await (await ask('trip', 'Why?')).rest()
      const messageId = (asked[0] as { messageId: string }).messageId
      const calls = asked.filter((each) => each !== '[DONE]' && each.type === 'tool-approval-request') as Approval[]
      const one = { id: 'trip', messages: [responded(messageId, calls.slice(0, 1), [false])] }
      const first = await (await post('/api/ui/chat', one)).rest()
      expect(types(first)).toEqual(['start', 'data-approval', 'tool-output-denied', 'finish', '[DONE]'])
      const two = { id: 'trip', messages: [responded(messageId, calls.slice(1), [true])] }
      const second = await (await post('/api/ui/chat', two)).rest()
      expect(types(second)).toEqual(expect.arrayContaining(['data-approval', 'tool-output-available', 'finish']))
    })

    it('streams what follows a decision, also where others decide on another call just before', async () => {
      await startAsking()
      const asked = await (await ask('trip', 'Why?')).rest()
      const messageId = (asked[0] as { messageId: string }).messageId
      const calls = asked.filter((each) => each !== '[DONE]' && each.type === 'tool-approval-request') as Approval[]
      const ctx = innerState(service.chat)
      const actor = await service.chat.users.actor(world.ada.id)
      const write: typeof ctx.write = async (work) => {
        await world.ada.approvals.decide(calls[0]!.toolCallId, { approve: false })
        return ctx.write(work)
      }
      const messages = [responded(messageId, calls.slice(1), [true])] as never[]
      const frames = await read(await send({ ...ctx, write }, actor, { id: 'trip', messages })).rest()
      expect(types(frames)).toEqual(expect.arrayContaining(['tool-output-available', 'finish']))
      expect(frames.at(-2)).toMatchObject({ finishReason: 'stop' })
    })

    it('reads only the decisions of an answer, however long it is', async () => {
      await startAsking()
      const asked = await (await ask('trip', 'Why?')).rest()
      const messageId = (asked[0] as { messageId: string }).messageId
      const calls = asked.filter((each) => each !== '[DONE]' && each.type === 'tool-approval-request') as Approval[]
      const decided = responded(messageId, calls, [true, false])
      const parts = [
        { type: 'text', text: 'a'.repeat(300_000) },
        { type: 'file', url: 'a'.repeat(5_000) },
        ...decided.parts,
      ]
      for (const history of [{ messages: [{ ...decided, parts }] }, { message: { ...decided, parts } }]) {
        const { response, rest } = await post('/api/ui/chat', { id: 'trip', ...history })
        expect(response.status).toBe(200)
        expect((await rest()).at(-2)).toMatchObject({ finishReason: 'stop' })
      }
    })

    it('refuses decisions without the right, all of them', async () => {
      await startAsking()
      const asked = await (await ask('trip', 'Why?', { conversation_id: world.conversation_id })).rest()
      const messageId = (asked[0] as { messageId: string }).messageId
      const calls = asked.filter((each) => each !== '[DONE]' && each.type === 'tool-approval-request') as Approval[]
      const grace = await signInByHand(service.base_url, world.grace.email, PASSWORD)
      const body = { id: messageId, messages: [responded(messageId, calls, [true, true])] }
      expect((await post('/api/ui/chat', body, grace)).response.status).toBe(403)
      const { approvals } = await world.ada.approvals.list({ state: 'waiting' })
      expect(approvals).toHaveLength(2)
    })

    it('has no frames that version 5 does not know', async () => {
      await startAsking()
      const stream = await post('/api/ui/chat', { id: 'trip', messages: [user('Why?')] }, { 'x-ui-version': '5' })
      const frames = types(await stream.rest())
      expect(frames).not.toContain('tool-approval-request')
      expect(frames.filter((type) => type === 'data-approval')).toHaveLength(2)
    })
  })

  it('tells the hook of the host of a first question, whose conversation is made with it', async () => {
    const seen: MessageBefore[] = []
    await start({ ports: { hooks: { beforeMessage: async (message: MessageBefore) => void seen.push(message) } } })
    const { frames } = await askAndEnd('trip', 'Why?')
    const { conversation_id } = (frames[0] as { messageMetadata: { conversation_id: string } }).messageMetadata
    expect(seen.at(-1)).toMatchObject({ role: 'assistant', content: 'Why?', conversation_id })
  })

  it('is a function in the process, which returns a response', async () => {
    await start()
    const actor = await service.chat.users.actor(world.ada.id)
    const { uiChats } = service.chat
    const response = await uiChats.send(actor, { id: 'trip', messages: [user('Why?') as never] })
    expect(response.headers.get('x-vercel-ai-ui-message-stream')).toBe('v1')
    const answer = await puppet.asked()
    answer.say('The sky.')
    const other = read(await uiChats.resume(actor, 'trip'))
    answer.end()
    const frames = await read(response).rest()
    expect(await other.rest()).toEqual(frames)
    expect(frames.at(-1)).toBe('[DONE]')
    expect((await uiChats.resume(actor, 'trip')).status).toBe(204)
    expect(await codeOf(uiChats.send(actor, { id: 'trip', messages: [] }))).toBe('validation_failed')
    expect((await uiChats.list(actor)).chats).toHaveLength(1)
    expect(innerState(service).streams.hub.countStreams(world.ada.id)).toBe(0)
  })

  it('streams the text of a bot', async () => {
    await start()
    const stream = service.chat.messages
    const bot = await world.ada.bots.create({ username: 'helper' })
    await world.ada.participants.add(world.conversation_id, { user_id: bot.bot.id })
    const actor = await service.chat.users.actor(bot.bot.id)
    const text = await stream.stream(actor, world.conversation_id, {})
    await text.write('Hello ')
    const frames = await get(`/api/messages/${text.message_id}/ui-stream`)
    expect([await frames.next(), await frames.next(), await frames.next(), await frames.next()]).toMatchObject([
      { type: 'start', messageId: text.message_id },
      { type: 'start-step' },
      { type: 'text-start' },
      { type: 'text-delta', delta: 'Hello ' },
    ])
    await text.end()
    expect((await frames.rest()).at(-1)).toBe('[DONE]')
    expect((await get(`/api/messages/${world.root.message_id}/ui-stream`)).response.status).toBe(404)
  })
})
