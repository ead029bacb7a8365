import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { AnswerPiece, Assistant, AssistantRequest } from '../../../lib/assistant/provider.ts'
import { type DefinedTool, defineTool } from '../../../lib/index.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { type ServiceOptions, startService, startThread, type TestService } from '../../support/service.ts'

/** What the model says in each step. */
type Script = (request: AssistantRequest) => (AnswerPiece | Promise<AnswerPiece>)[]

const ANY = {
  json_schema: { type: 'object' },
  validate: (value: unknown) => ({ value: value as Record<string, unknown> }),
}

describeOnEachDatabase('an answer that calls tools', (openUrl) => {
  const services: TestService[] = []
  let requests: AssistantRequest[] = []
  let url: string

  beforeEach(async () => {
    url = await openUrl()
    requests = []
  })
  afterEach(async () => {
    for (const service of services.splice(0)) await service.close()
  })

  async function start(tools: Record<string, DefinedTool>, script: Script, options: ServiceOptions = {}) {
    const assistant: Assistant = async function* (request) {
      requests.push(structuredClone({ ...request, open: undefined, signal: undefined }) as never)
      for (const piece of script(request)) yield await piece
    }
    const config = {
      ...options.config,
      assistant: {
        drain_seconds: 0,
        tools: Object.keys(tools),
        ...(options.config as { assistant?: object })?.assistant,
      },
    }
    const service = await startService(url, { ...options, config, ports: { assistant, tools, ...options.ports } })
    services.push(service)
    return service
  }

  async function askIn(service: TestService) {
    const world = await startThread(service)
    const { message_id } = await world.ada.messages.postRoot(world.conversation_id, {
      content: 'Why?',
      role: 'assistant',
    })
    const read = () => world.ada.messages.get(message_id)
    const untilEnded = async () => {
      await vi.waitUntil(async () => !['streaming', 'waiting'].includes((await read()).status), { timeout: 10_000 })
      return read()
    }
    const untilWaiting = () => vi.waitUntil(async () => (await read()).status === 'waiting', { timeout: 10_000 })
    return { ...world, message_id, read, untilEnded, untilWaiting }
  }

  it('runs the tool and asks the model again with its result', async () => {
    const ran: unknown[] = []
    const add = defineTool({
      description: 'Adds',
      input: ANY,
      run: ({ a, b }, { attempt, user, actor }) => {
        ran.push({ attempt, user: user.username, by: actor.user_id })
        return { sum: Number(a) + Number(b) }
      },
    })
    const service = await start({ add }, ({ step }) =>
      step === 1
        ? [
            'Let me see.',
            { tool_call: { name: 'add', input: '{"a":1,"b":2}' } },
            { usage: { prompt_tokens: 4, completion_tokens: 2, total_tokens: 6 } },
          ]
        : ['Three.', { usage: { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10 } }],
    )
    const { untilEnded, ada } = await askIn(service)
    const message = await untilEnded()
    expect(message).toMatchObject({
      status: 'complete',
      content: 'Let me see.\n\nThree.',
      usage: { prompt_tokens: 13, completion_tokens: 3, total_tokens: 16 },
    })
    expect(message.parts).toMatchObject([
      { type: 'text', text: 'Let me see.' },
      { type: 'tool', name: 'add', step: 1, state: 'done', input: { a: 1, b: 2 }, output: { sum: 3 } },
      { type: 'step', step: 2 },
      { type: 'text', text: '\n\nThree.' },
    ])
    expect(ran).toEqual([{ attempt: 1, user: 'ada', by: ada.id }])
    expect(requests.map(({ step, so_far }) => [step, so_far.map(({ type }) => type)])).toEqual([
      [1, []],
      [2, ['text', 'tool']],
    ])
    expect(requests[1]!.so_far[1]).toMatchObject({ state: 'done', output: { sum: 3 } })
  })

  it('goes on after an approval, and shows who decided', async () => {
    let runs = 0
    const pay = defineTool({ description: 'Pays', input: ANY, approval: { by: 'asker' }, run: () => ++runs })
    const service = await start({ pay }, ({ step }) =>
      step === 1 ? [{ tool_call: { name: 'pay', input: { amount: 5 } } }] : ['Paid.'],
    )
    const { ada, message_id, untilEnded, untilWaiting, conversation_id } = await askIn(service)
    await untilWaiting()
    expect(runs).toBe(0)
    const { approvals } = await ada.approvals.list({ mine: true })
    expect(approvals).toMatchObject([
      {
        state: 'waiting',
        message_id,
        conversation_id,
        input: { amount: 5 },
        may_decide: true,
        votes: [],
        requested_by: ada.id,
      },
    ])
    const { approval } = await ada.approvals.decide(approvals[0]!.call_id, { approve: true, reason: 'Fine' })
    expect(approval).toMatchObject({ state: 'approved', votes: [{ user_id: ada.id, approve: true, reason: 'Fine' }] })
    expect(await untilEnded()).toMatchObject({ status: 'complete', content: '\n\nPaid.'.trim() })
    expect(runs).toBe(1)
  })
})
