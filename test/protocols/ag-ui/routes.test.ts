import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readEvents } from '../../../lib/client/event-stream.ts'
import { defineTool } from '../../../lib/index.ts'
import type { AgUiEvent } from '../../../lib/protocols/ag-ui/schema-events.ts'
import type { AgUiMessage } from '../../../lib/protocols/ag-ui/schema-messages.ts'
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

/** What a client of AG-UI reads. */
interface Events {
  response: Response
  next(): Promise<AgUiEvent | undefined>
  rest(): Promise<AgUiEvent[]>
  leave(): Promise<void>
}

const ID = '01890000-0000-7000-8000-000000000000'

describeOnEachDatabase('the events of AG-UI', (openUrl) => {
  let url: string
  const services: TestService[] = []
  let puppet: ReturnType<typeof createPuppet>
  let world: Awaited<ReturnType<typeof startThread>>
  let service: TestService
  let own: SignedHeaders

  async function start(options: ServiceOptions = {}) {
    puppet = createPuppet()
    const { assistant, features, ...config } = { assistant: {}, features: {}, ...options.config }
    service = await startService(url, {
      ...options,
      config: { ...config, features: { ag_ui: true, ...features }, assistant: { drain_seconds: 0, ...assistant } },
      ports: { assistant: puppet.assistant, ...options.ports },
    })
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

  function read(response: Response): Events {
    const events = response.body && response.status === 200 ? readEvents(response.body) : undefined
    async function next(): Promise<AgUiEvent | undefined> {
      const { value } = (await events?.next()) ?? {}
      return value && JSON.parse(value.data)
    }
    return {
      response,
      next,
      async rest() {
        const all: AgUiEvent[] = []
        for (let event = await next(); event; event = await next()) all.push(event)
        return all
      },
      leave: async () => void (await events?.return(undefined)),
    }
  }

  async function post(path: string, body: unknown, headers: Record<string, string> = {}) {
    const all = { 'content-type': 'application/json', ...own, ...headers }
    const method = 'POST'
    return read(await checkedFetch(`${service.base_url}${path}`, { method, headers: all, body: JSON.stringify(body) }))
  }

  const user = (content: unknown, id = 'q') => ({ id, role: 'user', content })
  let runs = 0
  const input = (threadId: string, messages: readonly object[], more: object = {}) => ({
    threadId,
    runId: `r${runs++}`,
    protocolVersion: '1.0',
    state: {},
    tools: [],
    context: [],
    forwardedProps: {},
    messages,
    ...more,
  })
  const run = (threadId: string, messages: readonly object[], more: object = {}, headers = {}) =>
    post('/api/ag-ui', input(threadId, messages, more), headers)
  const ask = (threadId: string, text: string, more: object = {}) => run(threadId, [user(text)], more)
  const connect = (threadId: string, more: object = {}, headers = {}) =>
    post('/api/ag-ui/connect', input(threadId, [], more), headers)
  const stop = async (body: object, headers = {}) => (await post('/api/ag-ui/stop', body, headers)).response.status
  const loadSnapshot = async (threadId: string): Promise<AgUiMessage[]> => {
    const events = await (await connect(threadId)).rest()
    return (events[1] as { messages: AgUiMessage[] }).messages
  }

  const factsOf = (events: readonly AgUiEvent[]) =>
    (events[0] as unknown as { metadata: { 'chat-server': { message_id: string; variant_of?: string } } }).metadata[
      'chat-server'
    ]
  const types = (events: readonly AgUiEvent[]) => events.map(({ type }) => type)

  /** Asks, and has the whole answer. */
  async function askAndEnd(threadId: string, messages: readonly object[], more: object = {}) {
    const stream = await run(threadId, messages, more)
    if (stream.response.status !== 200) throw new Error(await stream.response.text())
    const answer = await puppet.asked()
    const text = `To ${answer.request.turns.at(-1)!.content}`
    answer.say(text)
    answer.end()
    const events = await stream.rest()
    return { events, ...factsOf(events), id: factsOf(events).message_id }
  }

  it('streams an answer: its rows, its end, its headers', async () => {
    await start()
    const stream = await ask('trip', 'Why?', { runId: 'one' })
    expect(stream.response.status).toBe(200)
    const { headers } = stream.response
    expect(headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(headers.get('cache-control')).toMatch(/\bno-cache\b/)
    expect(headers.get('x-accel-buffering')).toBe('no')
    const answer = await puppet.asked()
    expect(answer.request.turns.at(-1)?.content).toBe('Why?')
    answer.say('The ')
    const begin = (await stream.next())!
    const { message_id } = factsOf([begin])
    const { conversation_id } = await world.ada.messages.get(message_id)
    expect(begin).toEqual({
      type: 'RUN_STARTED',
      threadId: 'trip',
      runId: 'one',
      protocolVersion: '1.0',
      metadata: { 'chat-server': { message_id, root_id: message_id, conversation_id } },
    })
    expect(await stream.next()).toEqual({ type: 'TEXT_MESSAGE_START', messageId: message_id, role: 'assistant' })
    expect(await stream.next()).toEqual({ type: 'TEXT_MESSAGE_CONTENT', messageId: message_id, delta: 'The ' })
    answer.say('sky.')
    answer.end()
    expect(await stream.rest()).toEqual([
      { type: 'TEXT_MESSAGE_CONTENT', messageId: message_id, delta: 'sky.' },
      { type: 'TEXT_MESSAGE_END', messageId: message_id },
      expect.objectContaining({ type: 'RUN_FINISHED', threadId: 'trip', runId: 'one', outcome: { type: 'success' } }),
    ])
  })

  it('asks a run once, and streams its answer from the first row', async () => {
    await start()
    const first = await ask('trip', 'Why?', { runId: 'one' })
    const answer = await puppet.asked()
    answer.say('The sky.')
    answer.end()
    const events = await first.rest()
    expect(await (await ask('trip', 'Why?', { runId: 'one' })).rest()).toEqual(events)
    expect((await ask('trip', 'Else?', { runId: 'one' })).response.status).toBe(409)
    // A header takes the place of the run, which names its answer nonetheless.
    const keyed = await run('trip', [user('More?')], { runId: 'two' }, { 'idempotency-key': 'k' })
    const { message_id } = factsOf([(await keyed.next())!])
    await puppet.asked()
    const again = await run('trip', [user('More?')], { runId: 'three' }, { 'idempotency-key': 'k' })
    expect(factsOf([(await again.next())!])).toMatchObject({ message_id })
    expect(await stop({ threadId: 'trip', runId: 'one' })).toBe(204)
    expect(await stop({ threadId: 'trip', runId: 'two' })).toBe(202)
    for (const each of [keyed, again])
      expect((await each.rest()).at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'cancelled' } })
  })

  it('connects any number of readers to a running answer, and is stopped from anywhere', async () => {
    await start()
    const others = await signInByHand(service.base_url, world.eve.email, PASSWORD)
    const unknown = await (await connect('trip', { runId: 'c' })).rest()
    expect(unknown).toMatchObject([
      { type: 'RUN_STARTED', threadId: 'trip', runId: 'c' },
      { type: 'MESSAGES_SNAPSHOT', messages: [] },
      { type: 'RUN_FINISHED', runId: 'c', outcome: { type: 'success' } },
    ])
    expect(await stop({ threadId: 'trip' })).toBe(204)
    const first = await ask('trip', 'Why?', { runId: 'one' })
    const answer = await puppet.asked()
    answer.say('The ')
    const { message_id } = factsOf([(await first.next())!])
    const begin = [await first.next(), await first.next()]
    await first.leave()
    const readers = [await connect('trip'), await connect(message_id)]
    for (const [n, reader] of readers.entries()) {
      expect(await reader.next()).toMatchObject({ threadId: n ? message_id : 'trip', runId: message_id })
      expect(await reader.next()).toMatchObject({
        type: 'MESSAGES_SNAPSHOT',
        messages: [{ id: `${message_id}:prompt`, role: 'user', content: 'Why?' }],
      })
      expect([await reader.next(), await reader.next()]).toEqual(begin)
    }
    expect(await stop({ threadId: 'trip', runId: 'another' })).toBe(204)
    expect(await stop({ threadId: 'trip', runId: world.root.message_id })).toBe(204)
    expect(await stop({ threadId: 'trip', runId: 'one' }, others)).toBe(204)
    expect(await stop({ threadId: 'trip', runId: 'one' })).toBe(202)
    for (const reader of readers)
      expect(await reader.rest()).toMatchObject([
        { type: 'TEXT_MESSAGE_END', messageId: message_id },
        { type: 'RUN_FINISHED', runId: message_id, outcome: { type: 'cancelled' } },
      ])
    expect(await stop({ threadId: 'trip', runId: 'one' })).toBe(204)
    // The end of the newest answer, without one that is written.
    expect(await (await connect('trip')).rest()).toMatchObject([
      { type: 'RUN_STARTED', runId: message_id },
      { type: 'MESSAGES_SNAPSHOT', messages: [{ role: 'user' }, { id: message_id, content: 'The ' }] },
      { type: 'RUN_FINISHED', outcome: { type: 'cancelled' } },
    ])
  })

  it('knows no chats of others, and none whose root is deleted', async () => {
    await start()
    const { id } = await askAndEnd('trip', [user('Why?')])
    const others = await signInByHand(service.base_url, world.eve.email, PASSWORD)
    for (const name of ['trip', id])
      expect(await (await connect(name, {}, others)).rest()).toMatchObject([{}, { messages: [] }, {}])
    await world.ada.messages.remove(id, {})
    expect((await connect('trip')).response.status).toBe(404)
    expect((await ask('trip', 'More?')).response.status).toBe(404)
    expect(await stop({ threadId: 'trip' })).toBe(204)
  })

  it('answers the same question at the same place again, and edits what is named', async () => {
    await start()
    const first = await askAndEnd('trip', [user('One?')])
    const answered = [user('One?'), { id: first.id, role: 'assistant', content: 'To One?' }]
    const second = await askAndEnd('trip', [...answered, user('Two?')])
    const again = await askAndEnd('trip', [...answered, user('Two?')])
    expect(again.variant_of).toBe(second.id)
    // Without a new message it is the last question that is asked again, though others stand beside it.
    const other = await askAndEnd('trip', [...answered, user('Else?')])
    expect(other.variant_of).toBeUndefined()
    const third = await askAndEnd('trip', [...answered, user('Two?'), { id: second.id, role: 'assistant' }])
    expect(third.variant_of).toBe(second.id)
    const edited = await askAndEnd('trip', [...answered, user('Three?', `${second.id}:prompt`)])
    expect(edited.variant_of).toBe(second.id)
    const named = await askAndEnd('trip', [...answered, user('Four?')], { forwardedProps: { variant_of: third.id } })
    expect(named.variant_of).toBe(second.id)
    // The ids of parts of answers, and those of calls, are known, too; the ids of clients are not.
    const below = await askAndEnd('trip', [
      user('One?', crypto.randomUUID()),
      { id: `${second.id}:12`, role: 'tool', toolCallId: 'x', content: 'y' },
      { id: ID, role: 'assistant' },
      user('Five?', crypto.randomUUID()),
    ])
    expect((await world.ada.messages.get(below.id)).parent_id).toBe(second.id)
    const root = await askAndEnd('trip', [user('One?')])
    expect(root.variant_of).toBe(first.id)
    expect(await loadSnapshot('trip')).toMatchObject([
      { id: `${root.id}:prompt`, content: 'One?' },
      { id: root.id, content: 'To One?' },
    ])
  })

  it('begins in a conversation, with an assistant that the client names', async () => {
    await start()
    const { conversation_id, ada } = world
    const content = [
      { type: 'text', text: 'What is' },
      { type: 'text', text: 'this?' },
    ]
    const forwardedProps = { conversation_id, assistant: 'assistant' }
    const { id } = await askAndEnd('trip', [user(content)], { forwardedProps })
    expect(await ada.messages.get(id)).toMatchObject({ conversation_id, prompt: 'What is\nthis?' })
    // What was loaded can be asked again.
    const again = await askAndEnd('trip', [(await loadSnapshot('trip'))[0]!])
    expect(again.variant_of).toBe(id)
    const elsewhere = await ada.conversations.create({ title: 'Other' })
    const moved = { forwardedProps: { conversation_id: elsewhere.conversation_id } }
    expect((await run('trip', [user('More?')], moved)).response.status).toBe(409)
  })

  it('has the files of people, and goes on below what they wrote', async () => {
    await start({ config: { attachments: { enabled: true } } })
    const { conversation_id, ada } = world
    const actor = await service.chat.users.actor(ada.id)
    const bytes = new TextEncoder().encode('text')
    const { attachment } = await service.chat.attachments.upload(actor, conversation_id, { name: 'a.txt', bytes })
    const { id: file, type } = attachment
    const root = await ada.messages.postRoot(conversation_id, { content: 'See', attachment_ids: [file] })
    const source = { type: 'url', value: expect.stringContaining(`/api/attachments/${file}/content`), mimeType: type }
    const own = {
      id: root.message_id,
      role: 'user',
      content: [
        { type: 'text', text: 'See' },
        { type: 'document', source },
      ],
    }
    expect(await loadSnapshot(root.message_id)).toMatchObject([own])
    const { id } = await askAndEnd(root.message_id, [user('Why?')])
    expect((await ada.messages.get(id)).parent_id).toBe(root.message_id)
    expect(await loadSnapshot(root.message_id)).toMatchObject([own, { id: `${id}:prompt` }, { id }])
  })

  it('asks with files, which the question keeps when it is asked again or edited', async () => {
    await start({ config: { attachments: { enabled: true } } })
    const { conversation_id, ada } = world
    const actor = await service.chat.users.actor(ada.id)
    const add = async (name: string) => {
      const bytes = new TextEncoder().encode(name)
      return (await service.chat.attachments.upload(actor, conversation_id, { name, bytes })).attachment
    }
    const [one, two] = [await add('a.txt'), await add('b.txt')]
    const part = (value: string) => ({ type: 'document', source: { type: 'url', value } })
    const text = { type: 'text', text: 'What is this?' }
    const question = user([text, part(`${service.base_url}/api/attachments/${one.id}/content`), part(two.id)])
    const { id } = await askAndEnd('trip', [question], { forwardedProps: { conversation_id } })
    expect((await ada.messages.get(id)).attachments).toMatchObject([{ id: one.id }, { id: two.id }])
    const shown = (file: string) => part(expect.stringContaining(`/api/attachments/${file}/content`))
    const [loaded] = await loadSnapshot('trip')
    expect(loaded).toMatchObject({ content: [text, shown(one.id), shown(two.id)] })
    // As it was sent, and as it was loaded.
    for (const again of [question, loaded!]) {
      const { id: variant, variant_of } = await askAndEnd('trip', [again])
      expect(variant_of).toBe(id)
      const own = (await ada.messages.get(variant)).attachments!
      expect(own).toMatchObject([{ name: 'a.txt' }, { name: 'b.txt' }])
      expect((await loadSnapshot('trip'))[0]).toMatchObject({ content: [text, ...own.map((file) => shown(file.id))] })
    }
    const three = await add('c.txt')
    const edited = await askAndEnd('trip', [user([{ type: 'text', text: 'And this?' }], `${id}:prompt`)], {
      forwardedProps: { attachment_ids: [three.id, one.id] },
    })
    expect((await ada.messages.get(edited.id)).attachments).toMatchObject([{ id: three.id }, { name: 'a.txt' }])
    // A file is of one question.
    const below = [{ id: edited.id, role: 'assistant' }, user([{ type: 'text', text: 'More?' }, part(one.id)])]
    expect((await run('trip', below)).response.status).toBe(404)
    expect((await run('trip', [user([part((await add('d.txt')).id)])])).response.status).toBe(422)
  })

  it('has the reason of an answer that failed, and breaks off what has not ended', async () => {
    await start()
    const failing = await ask('trip', 'Why?')
    const answer = await puppet.asked()
    answer.say('The ')
    answer.fail(new Error('broken'))
    expect((await failing.rest()).slice(-2)).toEqual([
      expect.objectContaining({ type: 'TEXT_MESSAGE_END' }),
      { type: 'RUN_ERROR', code: 'provider_error', message: expect.any(String) },
    ])
    expect((await (await connect('trip')).rest()).at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'provider_error' })
    const stream = await ask('trip', 'More?')
    ;(await puppet.asked()).say('The ')
    await stream.next()
    service.chat.drain()
    await expect(stream.rest()).rejects.toThrow()
  })

  it('has no outcome but that of an interrupt for clients of 0.x, and takes null for what is left out', async () => {
    await start()
    const nulls = { protocolVersion: null, parentRunId: null, resume: null, state: null }
    const { events } = await askAndEnd('trip', [{ ...user('Why?'), name: null }], nulls)
    expect(events.at(-1)).not.toHaveProperty('outcome')
    expect((await (await connect('trip', nulls)).rest()).at(-1)).not.toHaveProperty('outcome')
    const others = [
      { forwardedProps: { own: 1 } },
      { forwardedProps: null, context: 5, tools: 'no', state: [1] },
      { messages: [user([{ type: 'text', text: 'More?', source: null, url: null, id: null }])] },
      {
        messages: [
          user([
            { type: 'text', text: 'And more?' },
            { type: 'other', text: null, source: null },
          ]),
        ],
      },
    ]
    for (const [n, more] of others.entries()) await askAndEnd('trip', [user(`More ${n}?`)], more)
  })

  it('refuses a question while an answer to the caller is written, and asks none without a place for its stream', async () => {
    await start({ config: { sse: { max_streams_per_user: 1 } } })
    const first = await ask('trip', 'Why?')
    await puppet.asked()
    expect((await ask('other', 'Why?')).response.status).toBe(429)
    expect(await loadSnapshot('other')).toEqual([])
    await first.next()
    await first.leave()
    await expect.poll(() => innerState(service).streams.hub.countStreams(world.ada.id)).toBe(0)
    expect((await ask('trip', 'More?')).response.status).toBe(409)
    expect(innerState(service).streams.hub.countStreams(world.ada.id)).toBe(0)
  })

  it.each<[string, object, number]>([
    ['no question', { messages: [] }, 422],
    ['an answer alone', { messages: [{ id: 'a', role: 'assistant', content: 'x' }] }, 422],
    ['an empty question', { messages: [user('')] }, 422],
    ['an invisible question', { messages: [user([{ type: 'text', text: ' ' }])] }, 422],
    ['a question without a content', { messages: [{ id: 'q', role: 'user', content: null }] }, 422],
    ['a message without a role', { messages: [{ id: 'q' }, user('Why?')] }, 422],
    ['a message that is none', { messages: ['q', user('Why?')] }, 422],
    ['no name of a chat', { messages: [user('Why?')], threadId: undefined }, 422],
    ['a name with a space', { messages: [user('Why?')], threadId: 'a b' }, 422],
    ['a name of dots', { messages: [user('Why?')], threadId: '..' }, 422],
    ['props that are none', { messages: [user('Why?')], forwardedProps: 'text' }, 422],
    ['a list of props', { messages: [user('Why?')], forwardedProps: [null] }, 422],
    ['no run', { messages: [user('Why?')], runId: undefined }, 422],
    [
      'a file that is sent along',
      { messages: [user([{ type: 'image', source: { type: 'data', value: 'AAAA', mimeType: 'image/png' } }])] },
      422,
    ],
    ['a file of elsewhere', { messages: [user([{ type: 'binary', url: 'https://example.org/a' }])] }, 422],
    [
      'a file of another host',
      { messages: [user([{ type: 'binary', url: `https://example.org/api/attachments/${ID}/content` }])] },
      422,
    ],
    ['a file without a place', { messages: [user([{ type: 'video' }])] }, 422],
    ['an unknown assistant', { messages: [user('Why?')], forwardedProps: { assistant: 'nobody' } }, 422],
    ['a variant of what is not there', { messages: [user('Why?')], forwardedProps: { variant_of: ID } }, 404],
    ['a question that was asked elsewhere', { messages: [user('Why?', `${ID}:prompt`)] }, 404],
    ['an answer to no interrupt', { resume: [{ interruptId: 'x', status: 'cancelled' }] }, 404],
    ['an answer to an unknown interrupt', { resume: [{ interruptId: ID, status: 'cancelled' }] }, 404],
    ['an interrupt that is neither', { resume: [{ interruptId: ID, status: 'maybe' }] }, 422],
    ['an answer without a decision', { resume: [{ interruptId: ID, status: 'resolved' }] }, 422],
    ['an answer with null for a decision', { resume: [{ interruptId: ID, status: 'resolved', payload: null }] }, 422],
    ['a decision that is none', { resume: [{ interruptId: ID, status: 'resolved', payload: { approved: 1 } }] }, 422],
    ['two answers to one', { resume: [1, 2].map(() => ({ interruptId: ID, status: 'cancelled' })) }, 422],
  ])('refuses %s', async (_, body, status) => {
    await start()
    const { response } = await run('trip', [], body)
    expect([response.status, await response.text()]).toEqual([status, expect.any(String)])
  })

  it('is off without its flag, and features say so', async () => {
    await start({ config: { features: { ag_ui: false } } })
    expect((await ask('trip', 'Why?')).response.status).toBe(404)
    expect((await connect('trip')).response.status).toBe(404)
    expect(await stop({ threadId: 'trip' })).toBe(404)
    expect(await world.ada.capabilities.get()).toMatchObject({ protocols: ['ui_stream'] })
  })

  it('leaves out ids of messages that are not its own, of any length, and takes null for no run', async () => {
    await start()
    const messages = [{ id: 'x'.repeat(1000), role: 'assistant' }, user('Why?')]
    expect((await run('trip', messages)).response.status).toBe(200)
    expect(await stop({ threadId: 'other', runId: null })).toBe(204)
  })

  it('takes a history of 2 MiB, and reads nothing of it but ids', async () => {
    await start()
    const long = (size: number) => ({ id: 'a', role: 'assistant', content: 'a'.repeat(size), toolCalls: [{ x: 1 }] })
    expect((await run('trip', [long(1_900_000), user('Why?')])).response.status).toBe(200)
    expect((await connect('trip', { messages: [long(1_900_000)] })).response.status).toBe(200)
    expect((await run('trip', [long(2_100_000), user('Why?')])).response.status).toBe(413)
  })

  it('declares what it can do', async () => {
    await start({ config: { assistant: { tools: ['pay'] } }, ports: { tools: { pay: tool('pay') } } })
    const response = await checkedFetch(`${service.base_url}/api/ag-ui/capabilities`, { headers: own })
    expect(await response.json()).toMatchObject({
      identity: { name: expect.any(String), type: 'chat-server' },
      tools: { supported: true, clientProvided: false, items: [{ name: 'pay' }] },
      state: { snapshots: false, deltas: false },
      humanInTheLoop: { interrupts: true, approveWithEdits: false },
      custom: { 'chat-server': { assistants: [{ key: 'assistant', default: true }] } },
    })
  })

  const tool = (name: string, approval: object = {}) =>
    defineTool({
      description: name,
      input: ANY,
      run: async () => `${name} done`,
      approval: { by: 'asker', ...approval } as never,
    })

  describe('interrupts', () => {
    const startAsking = (approval: object = {}) =>
      start({
        config: { assistant: { tools: ['refund', 'pay'] } },
        ports: {
          tools: { refund: tool('refund', approval), pay: tool('pay', approval) },
          assistant: async function* ({ step }) {
            if (step === 1) yield* ['Let me.', call('refund'), call('pay')]
            else yield 'Done.'
          },
        },
      })

    const interruptsIn = (events: readonly AgUiEvent[]) =>
      (events.at(-1) as unknown as { outcome: { interrupts?: { id: string }[] } }).outcome.interrupts?.map(
        ({ id }) => id,
      )

    /** Asks, and has the calls that wait. */
    async function askAndWait(more: object = {}) {
      const events = await (await ask('trip', 'Why?', more)).rest()
      const [refund, pay] = interruptsIn(events) as [string, string]
      return { events, ...factsOf(events), refund, pay }
    }

    const resume = (...entries: [id: string, approved: boolean][]) => ({
      resume: entries.map(([interruptId, approved]) => ({ interruptId, status: 'resolved', payload: { approved } })),
    })

    it('end a run with the messages so far, and the next one goes on with the answers to all of them', async () => {
      await startAsking()
      const { events, message_id, refund, pay } = await askAndWait()
      expect(types(events).slice(-3)).toEqual(['TOOL_CALL_END', 'MESSAGES_SNAPSHOT', 'RUN_FINISHED'])
      expect((events.at(-2) as { messages: AgUiMessage[] }).messages).toMatchObject([
        // The client's own id: the messages that it shows keep their places.
        { id: 'q', role: 'user', content: 'Why?' },
        { id: message_id, role: 'assistant', content: 'Let me.' },
        { id: refund, role: 'assistant', toolCalls: [{ id: refund, function: { name: 'refund', arguments: '{}' } }] },
        { id: pay, role: 'assistant', toolCalls: [{ id: pay }] },
      ])
      const waiting = await (await connect('trip')).rest()
      expect(types(waiting)).toEqual(['RUN_STARTED', 'MESSAGES_SNAPSHOT', 'RUN_FINISHED'])
      expect(interruptsIn(waiting)).toEqual([refund, pay])

      const decisions = resume([refund, true], [pay, false])
      const rest = await (await run('trip', [user('Why?')], { runId: 'go', ...decisions })).rest()
      expect(rest[0]).toMatchObject({ type: 'RUN_STARTED', runId: 'go' })
      expect(factsOf(rest).message_id).toBe(message_id)
      expect(types(rest)).not.toContain('TOOL_CALL_START')
      const results = rest.filter(({ type }) => type === 'TOOL_CALL_RESULT')
      expect(results).toHaveLength(2)
      expect(results).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ toolCallId: refund, content: 'refund done' }),
          expect.objectContaining({ toolCallId: pay, content: 'The call was denied.' }),
        ]),
      )
      expect(rest.at(-1)).toMatchObject({ outcome: { type: 'success' } })
      // The same answers again give the same events; the same question, too, from its first row on.
      expect(await (await run('trip', [user('Why?')], { runId: 'go', ...decisions })).rest()).toEqual(rest)
      const messages = await loadSnapshot('trip')
      expect(messages.map(({ role, content }) => [role, content])).toEqual([
        ['user', 'Why?'],
        ['assistant', 'Let me.'],
        ['assistant', undefined],
        ['tool', 'refund done'],
        ['assistant', undefined],
        ['tool', 'The call was denied.'],
        ['assistant', '\n\nDone.'],
      ])
      expect(messages[5]).toMatchObject({ error: 'The call was denied.' })
    })

    it('refuse a run that leaves some of them open, and decide none', async () => {
      await startAsking()
      const { message_id, refund } = await askAndWait()
      for (const more of [{}, resume([refund, true])]) {
        const events = await (await ask('trip', 'Else?', { runId: 'no', ...more })).rest()
        expect(events).toMatchObject([
          { type: 'RUN_STARTED', runId: 'no', metadata: { 'chat-server': { message_id } } },
          { type: 'RUN_ERROR', code: 'conflict' },
        ])
      }
      const { approvals } = await world.ada.approvals.list({ state: 'waiting' })
      expect(approvals).toHaveLength(2)
      expect(innerState(service).streams.hub.countStreams(world.ada.id)).toBe(0)
    })

    it('are decided all together also while another call of the step still runs', async () => {
      let paid = () => {}
      const isPaid = new Promise<void>((resolve) => {
        paid = resolve
      })
      const pay = defineTool({
        description: 'pay',
        input: ANY,
        async run() {
          await isPaid
          return 'pay done'
        },
      })
      await start({
        config: { assistant: { tools: ['refund', 'pay'] } },
        ports: {
          tools: { refund: tool('refund'), pay },
          assistant: async function* ({ step }) {
            if (step === 1) yield* [call('refund', { of: 1 }), call('refund', { of: 2 }), call('pay')]
            else yield 'Done.'
          },
        },
      })
      const asked = await ask('trip', 'Why?')
      await expect.poll(async () => (await world.ada.approvals.list({ state: 'waiting' })).approvals.length).toBe(2)
      const ids = (await world.ada.approvals.list({ state: 'waiting' })).approvals.map(({ call_id }) => call_id)
      const half = await (await run('trip', [], resume([ids[0]!, true]))).rest()
      expect(half.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'conflict' })
      expect((await world.ada.approvals.list({ state: 'waiting' })).approvals).toHaveLength(2)
      const whole = await run('trip', [], resume([ids[0]!, true], [ids[1]!, false]))
      paid()
      expect((await whole.rest()).at(-1)).toMatchObject({ outcome: { type: 'success' } })
      await asked.rest()
    })

    it('take null for a decision that is left out', async () => {
      await startAsking()
      const { refund, pay } = await askAndWait()
      const entries = [refund, pay].map((interruptId) => ({ interruptId, status: 'cancelled', payload: null }))
      const rest = await (await run('trip', [], { resume: entries })).rest()
      expect(rest.filter(({ type }) => type === 'TOOL_CALL_RESULT')).toHaveLength(2)
    })

    it('that others have decided meanwhile do not end a run before its own decision', async () => {
      await startAsking()
      const { refund, pay } = await askAndWait()
      await world.ada.approvals.decide(refund, { approve: false })
      const rest = await (await run('trip', [], resume([refund, false], [pay, true]))).rest()
      expect(rest.filter(({ type }) => type === 'TOOL_CALL_RESULT')).toHaveLength(2)
      expect(rest.at(-1)).toMatchObject({ outcome: { type: 'success' } })
    })

    it('are decided in any door, and may be abandoned; what follows is stopped by the run that goes on', async () => {
      await startAsking()
      const { refund, pay } = await askAndWait()
      await world.ada.approvals.decide(refund, { approve: false })
      const alone = await (await run('trip', [], resume([pay, true]))).rest()
      expect(alone.at(-1)).toMatchObject({ outcome: { type: 'success' } })
      const next = await (await ask('trip', 'Again?', { runId: 'two' })).rest()
      const entries = interruptsIn(next)!.map((interruptId) => ({ interruptId, status: 'cancelled' }))
      const abandoned = await (await run('trip', [], { runId: 'three', resume: entries })).rest()
      expect(abandoned.filter(({ type }) => type === 'TOOL_CALL_RESULT')).toHaveLength(2)
      await askAndWait({ runId: 'four' })
      expect(await stop({ threadId: 'trip', runId: 'three' })).toBe(204)
      expect(await stop({ threadId: 'trip', runId: 'four' })).toBe(202)
      expect((await (await connect('trip')).rest()).at(-1)).toMatchObject({ outcome: { type: 'cancelled' } })
    })

    it('end the run again while a quorum is open', async () => {
      await startAsking({ by: 'members', quorum: 2 })
      const { conversation_id } = world
      const { refund, pay } = await askAndWait({ forwardedProps: { conversation_id } })
      const half = resume([refund, true], [pay, true])
      const again = await (await run('trip', [user('Why?')], half)).rest()
      expect(types(again)).toEqual(['RUN_STARTED', 'MESSAGES_SNAPSHOT', 'RUN_FINISHED'])
      expect(interruptsIn(again)).toEqual([refund, pay])
      for (const id of [refund, pay]) await world.grace.approvals.decide(id, { approve: true })
      await expect
        .poll(async () => (await (await connect('trip')).rest()).at(-1))
        .toMatchObject({ outcome: { type: 'success' } })
    })

    it('of the caller are what a connection ends with, whatever else the chat has', async () => {
      await startAsking()
      const { conversation_id } = world
      const { message_id, refund } = await askAndWait({ forwardedProps: { conversation_id } })
      const { root_id } = await world.ada.messages.get(message_id)
      const other = await world.grace.messages.reply(message_id, { content: 'And why?', role: 'assistant' })
      await expect
        .poll(async () => (await world.ada.messages.get(other.message_id)).status, { timeout: 30_000 })
        .not.toBe('streaming')
      const events = await (await connect(root_id)).rest()
      expect(interruptsIn(events)).toContain(refund)
    })

    it('are refused without the right, all of them', async () => {
      await startAsking()
      const { message_id, refund, pay } = await askAndWait({
        forwardedProps: { conversation_id: world.conversation_id },
      })
      const grace = await signInByHand(service.base_url, world.grace.email, PASSWORD)
      const { response } = await run(message_id, [], resume([refund, true], [pay, true]), grace)
      expect(response.status).toBe(403)
      const { approvals } = await world.ada.approvals.list({ state: 'waiting' })
      expect(approvals).toHaveLength(2)
      // Nor are those of another chat decided.
      expect((await run('other', [], resume([refund, true], [pay, true]))).response.status).toBe(404)
    })
  })

  it('is functions in the process, which return responses', async () => {
    await start()
    const actor = await service.chat.users.actor(world.ada.id)
    const { runs: own } = service.chat
    const response = await own.start(actor, input('trip', [user('Why?')], { runId: 'one' }) as never)
    const answer = await puppet.asked()
    answer.say('The sky.')
    const other = read(await own.connect(actor, { threadId: 'trip', runId: 'two' }))
    answer.end()
    const events = await read(response).rest()
    expect((await other.rest()).slice(2, -1)).toEqual(events.slice(1, -1))
    expect(await own.stop(actor, { threadId: 'trip' })).toBeUndefined()
    expect(await codeOf(own.start(actor, { threadId: 'trip', runId: 'r' }))).toBe('validation_failed')
    expect((await own.getCapabilities(actor)).transport.streaming).toBe(true)
    expect(innerState(service).streams.hub.countStreams(world.ada.id)).toBe(0)
  })
})
