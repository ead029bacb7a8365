import { HttpAgent as HttpAgent1, verifyEvents } from '@ag-ui/client'
import type { BaseEvent, Interrupt, Message, RunAgentInput } from '@ag-ui/core'
import { EventSchemas, MessageSchema } from '@ag-ui/core/schemas'
import { HttpAgent as HttpAgent0 } from 'agui0'
import { from, lastValueFrom, type Observable, toArray } from 'rxjs'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { AnswerPiece } from '../../lib/assistant/provider.ts'
import type { Written } from '../../lib/chat/answers/service-rows.ts'
import { defineTool } from '../../lib/index.ts'
import {
  createEventWriter,
  type Run,
  toEnd,
  toInterrupt,
  toRunStarted,
  toSnapshotEvent,
} from '../../lib/protocols/ag-ui/rules.ts'
import { createAnswerSteps, listSegmentEnds } from '../../lib/protocols/rows/rules.ts'
import { createRandom } from '../fault/random.ts'
import { randomAnswer } from '../protocols/random-rows.ts'
import { createPuppet } from '../support/assistant.ts'
import { type ServiceOptions, startService, startThread, type TestService } from '../support/service.ts'

const ID = '01890000-0000-7000-8000-000000000000'

describe('the events of random answers', () => {
  const run: Run = { thread_id: 'trip', run_id: 'r1', is_old: false }
  const message: Written = { id: ID, conversation_id: ID, root_id: ID, status: 'complete', created_at: 0 }

  /** The runs of an answer: one up to each wait, and the last. */
  function runsOf({ rows, status }: ReturnType<typeof randomAnswer>): unknown[][] {
    const steps = createAnswerSteps()
    const ends = new Set(listSegmentEnds(rows))
    const begin = () => ({
      events: [toRunStarted(run, message)],
      writer: createEventWriter(ID, (id: string) => `/files/${id}`),
    })
    const runs: unknown[][] = []
    let current = begin()
    for (const row of rows) {
      const step = steps.next(row)
      if (step) current.events.push(...current.writer.row(step))
      if (!ends.has(row.idx)) continue
      const snapshot = toSnapshotEvent({ messages: [], has_earlier: false })
      runs.push([...current.events, ...current.writer.close(), snapshot, toInterrupt(run, steps.waitingCalls())])
      current = begin()
    }
    runs.push([...current.events, ...current.writer.close(), toEnd(run, { ...message, status })])
    return runs
  }

  it('are valid, and verified by the client', async () => {
    const random = createRandom(3)
    for (let n = 0; n < 10_000; n++) {
      for (const events of runsOf(randomAnswer(random)) as BaseEvent[][]) {
        for (const event of n < 1_000 ? events : []) expect(EventSchemas.parse(event)).toEqual(event)
        expect(await lastValueFrom(from(events).pipe(verifyEvents(), toArray()))).toEqual(events)
      }
    }
  }, 300_000)
})

const call = (name: string): AnswerPiece => ({ tool_call: { name, input: { sum: 1 } } })
const ANY = { json_schema: { type: 'object' }, validate: (value: unknown) => ({ value: value as object }) }
const tool = (name: string) =>
  defineTool({
    description: name,
    input: ANY,
    run: async () => `${name} done`,
    approval: { by: 'asker', keys: true },
  })

/** What of the agents is used here: their types differ between the versions. */
interface Agent {
  threadId: string
  messages: Message[]
  pendingInterrupts: Interrupt[]
  addMessage(message: Message): void
  setMessages(messages: Message[]): void
  subscribe(subscriber: { onEvent(params: { event: BaseEvent }): void }): unknown
  runAgent(parameters?: { runId?: string; resume?: object[]; forwardedProps?: object }): Promise<unknown>
  connectAgent(): Promise<unknown>
}

describe.each([
  ['0.x', HttpAgent0 as unknown as typeof HttpAgent1],
  ['1.0', HttpAgent1],
])('the agent of version %s', (version, HttpAgent) => {
  let service: TestService
  let puppet: ReturnType<typeof createPuppet>
  let world: Awaited<ReturnType<typeof startThread>>
  let key: string
  let warnings: ReturnType<typeof vi.spyOn>

  /** An agent that resumes. */
  class ResumingAgent extends HttpAgent {
    protected override connect(input: RunAgentInput): Observable<BaseEvent> {
      const agent = this.clone()
      agent.url = `${this.url}/connect`
      return agent.run(input)
    }
  }

  beforeEach(() => {
    warnings = vi.spyOn(console, 'warn')
  })
  afterEach(async () => {
    // Whatever a client does not know it removes with a warning.
    expect(warnings.mock.calls).toEqual([])
    vi.restoreAllMocks()
    await service?.close()
  })

  async function start(options: ServiceOptions = {}) {
    puppet = createPuppet()
    const { assistant, ...config } = { assistant: {}, ...options.config }
    service = await startService('sqlite::memory:', {
      config: { ...config, features: { ag_ui: true }, assistant: { drain_seconds: 0, ...assistant } },
      ports: { assistant: puppet.assistant, ...options.ports },
    })
    world = await startThread(service)
    key = (await world.ada.keys.create({ name: 'a page' })).key
  }

  function open(threadId: string): Agent & { events: BaseEvent[] } {
    const headers = { authorization: `Bearer ${key}` }
    const agent = new ResumingAgent({ url: `${service.base_url}/api/ag-ui`, threadId, headers }) as unknown as Agent
    const events: BaseEvent[] = []
    agent.subscribe({ onEvent: ({ event }) => void events.push(event) })
    return Object.assign(agent, { events })
  }

  const texts = ({ messages }: Agent) =>
    messages.map(({ role, ...message }) => [role, 'content' in message ? message.content : undefined])
  const ids = ({ messages }: Agent) => messages.map(({ id }) => id)
  const last = ({ events }: { events: BaseEvent[] }) => events.at(-1) as BaseEvent & { outcome?: { type: string } }

  /** Asks, and has the whole answer. */
  async function send(agent: Agent, text: string, answer: string) {
    agent.addMessage({ id: crypto.randomUUID(), role: 'user', content: text })
    const sent = agent.runAgent()
    const asked = await puppet.asked()
    asked.say(answer)
    asked.end()
    await sent
  }

  it('runs, and loads what it has got', async () => {
    await start()
    const agent = open('trip')
    agent.addMessage({ id: 'q1', role: 'user', content: 'Why?' })
    const sent = agent.runAgent({ runId: 'r1' })
    const answer = await puppet.asked()
    expect(answer.request.turns.at(-1)?.content).toBe('Why?')
    answer.say(
      { reasoning: 'Hm.' },
      'The ',
      { source: { url: 'https://example.org/', title: 'It' } },
      { data: { name: 'chart', data: 1 } },
      'sky.',
    )
    answer.end()
    await sent
    expect(texts(agent)).toEqual([
      ['user', 'Why?'],
      ['reasoning', 'Hm.'],
      ['assistant', 'The '],
      ['assistant', 'sky.'],
    ])
    expect(last(agent).outcome?.type).toBe(version === '1.0' ? 'success' : undefined)
    await send(agent, 'And?', 'The sea.')
    const other = open('trip')
    await other.connectAgent()
    for (const message of other.messages) expect(MessageSchema.parse(message)).toEqual(message)
    expect(texts(other)).toEqual(texts(agent))
    expect(ids(other).slice(1, 4)).toEqual(ids(agent).slice(1, 4))
    // What was loaded keeps its messages, and goes on below them.
    await send(other, 'More?', 'The end.')
    await agent.connectAgent()
    expect(texts(agent)).toEqual(texts(other))
    expect(ids(agent)[0]).toBe('q1')
  })

  it('resumes a running answer, for a second reader, too, and is stopped from another door', async () => {
    await start()
    const empty = open('trip')
    await empty.connectAgent()
    expect([empty.messages, last(empty).type]).toEqual([[], 'RUN_FINISHED'])
    const first = open('trip')
    first.addMessage({ id: 'q1', role: 'user', content: 'Why?' })
    const sent = first.runAgent()
    const answer = await puppet.asked()
    answer.say('The ')
    await vi.waitUntil(() => texts(first).at(-1)?.[1] === 'The ', { timeout: 30_000 })
    const second = open('trip')
    const resumed = second.connectAgent()
    await vi.waitUntil(() => texts(second).at(-1)?.[1] === 'The ', { timeout: 30_000 })
    answer.say('sky.')
    await vi.waitUntil(() => texts(second).at(-1)?.[1] === 'The sky.', { timeout: 30_000 })
    const stopped = await fetch(`${service.base_url}/api/ui/chat/trip/stop`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
    })
    expect(stopped.status).toBe(202)
    await Promise.all([sent, resumed])
    for (const agent of [first, second]) {
      expect(texts(agent)).toEqual([
        ['user', 'Why?'],
        ['assistant', 'The sky.'],
      ])
      expect(last(agent)).toMatchObject({ type: 'RUN_FINISHED' })
      expect(last(agent).outcome?.type).toBe(version === '1.0' ? 'cancelled' : undefined)
    }
  })

  it('answers the same question again: the answers are variants', async () => {
    await start()
    const agent = open('trip')
    await send(agent, 'One?', 'First.')
    await send(agent, 'Two?', 'Second.')
    const before = agent.messages
    agent.setMessages(before.slice(0, -1))
    const sent = agent.runAgent()
    const again = await puppet.asked()
    again.say('Second again.')
    again.end()
    await sent
    expect(texts(agent).slice(2)).toEqual([
      ['user', 'Two?'],
      ['assistant', 'Second again.'],
    ])
    const started = agent.events.findLast(({ type }) => type === 'RUN_STARTED')
    expect(started?.metadata).toMatchObject({ 'chat-server': { variant_of: before.at(-1)!.id } })
  })

  it('has the reason when an answer fails', async () => {
    await start()
    const agent = open('trip')
    agent.addMessage({ id: 'q1', role: 'user', content: 'Why?' })
    const sent = agent.runAgent()
    const answer = await puppet.asked()
    answer.say('The ')
    answer.fail(new Error('broken'))
    await sent
    expect(last(agent)).toMatchObject({ type: 'RUN_ERROR', code: 'provider_error' })
  })

  it('fails when the server stops: what is broken off is no end', async () => {
    await start()
    vi.spyOn(console, 'error').mockImplementation(() => {})
    ignoreRejections()
    const agent = open('trip')
    agent.addMessage({ id: 'q1', role: 'user', content: 'Why?' })
    const sent = agent.runAgent()
    ;(await puppet.asked()).say('The ')
    await vi.waitUntil(() => texts(agent).at(-1)?.[1] === 'The ', { timeout: 30_000 })
    service.chat.drain()
    await expect(sent).rejects.toThrow()
    await new Promise(setImmediate)
  })

  /** The agent cancels a body that has failed already, and leaves that failure to the process. */
  function ignoreRejections() {
    const listeners = process.rawListeners('unhandledRejection') as NodeJS.UnhandledRejectionListener[]
    process.removeAllListeners('unhandledRejection').on('unhandledRejection', () => {})
    onTestFinished(() => {
      process.removeAllListeners('unhandledRejection')
      for (const listener of listeners) process.on('unhandledRejection', listener)
    })
  }

  const startAsking = () =>
    start({
      config: { assistant: { tools: ['refund', 'pay'] } },
      ports: {
        tools: { refund: tool('refund'), pay: tool('pay') },
        assistant: async function* ({ step, turns }) {
          if (turns.length > 1) yield 'Bye.'
          else if (step === 1) yield* [{ reasoning: 'Hm.' }, 'Let me.', call('refund'), call('pay')]
          else yield 'Done.'
        },
      },
    })

  it('is interrupted by calls that wait, and goes on with the answers', async () => {
    await startAsking()
    const agent = open('trip')
    agent.addMessage({ id: 'q1', role: 'user', content: 'Why?' })
    await agent.runAgent()
    expect(last(agent)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'interrupt' } })
    const { interrupts } = last(agent).outcome as unknown as { interrupts: Interrupt[] }
    const [refund, pay] = interrupts.map(({ id }) => id) as [string, string]
    const asked = [
      ['user', 'q1'],
      ['reasoning', expect.stringContaining(':')],
      ['assistant', expect.stringMatching(/^[0-9a-f-]{36}$/)],
      ['assistant', refund],
      ['assistant', pay],
    ]
    expect(agent.messages.map(({ role, id }) => [role, id])).toEqual(asked)
    const resume = [
      { interruptId: refund, status: 'resolved', payload: { approved: true } },
      { interruptId: pay, status: 'cancelled' },
    ]
    // A page that is reloaded has the same interrupts.
    const other = open('trip')
    await other.connectAgent()
    expect(last(other).outcome).toEqual(last(agent).outcome)
    expect(texts(other)).toEqual(texts(agent))

    await agent.runAgent({ resume })
    expect(last(agent).outcome?.type).toBe(version === '1.0' ? 'success' : undefined)
    const whole = [
      ['user', 'Why?'],
      ['reasoning', 'Hm.'],
      ['assistant', 'Let me.'],
      ['assistant', undefined],
      ['tool', 'refund done'],
      ['assistant', undefined],
      ['tool', 'The call was denied.'],
      ['assistant', '\n\nDone.'],
    ]
    expect(texts(agent)).toEqual(whole)
    expect(agent.events.filter(({ type }) => type === 'TOOL_CALL_START')).toHaveLength(2)
    await other.runAgent({ resume })
    expect(texts(other)).toEqual(whole)
    const loaded = open('trip')
    await loaded.connectAgent()
    expect(texts(loaded)).toEqual(whole)
    expect(ids(loaded).slice(1)).toEqual(ids(agent).slice(1))
    agent.addMessage({ id: 'q2', role: 'user', content: 'So?' })
    await agent.runAgent()
    expect(texts(agent).slice(-2)).toEqual([
      ['user', 'So?'],
      ['assistant', 'Bye.'],
    ])
  })

  it('is refused by an event while interrupts are open', async () => {
    await startAsking()
    const agent = open('trip')
    agent.addMessage({ id: 'q1', role: 'user', content: 'Why?' })
    await agent.runAgent()
    // Another page, which does not know of them.
    const other = open('trip')
    other.addMessage({ id: 'q2', role: 'user', content: 'Else?' })
    await other.runAgent()
    expect(last(other)).toMatchObject({ type: 'RUN_ERROR', code: 'conflict' })
  })
})
