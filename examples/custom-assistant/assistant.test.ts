import { jsonSchema, simulateReadableStream, tool } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
import { expect, it, onTestFinished } from 'vitest'
import { asking } from '../../test/assistant/turns.ts'
import { start } from '../../test/support/example.ts'
import { innerState, startService, startThread } from '../../test/support/service.ts'
import { createAiSdk } from './ai-sdk.ts'

it('an assistant that is a function runs', async () => {
  const example = start('custom-assistant/function.ts')
  expect(await example.end).toBe(0)
  expect(example.output().trimEnd().split('\n')).toEqual([
    '4 words: The engine weaves patterns.',
    '5 words: As a loom weaves leaves.',
    '4 words: How much was said?',
    '13 words by 2 people.',
    '(stop, 13 tokens)',
  ])
})

it('an assistant that asks the AI SDK runs without a key', async () => {
  const example = start('custom-assistant/ai-sdk.ts')
  expect(await example.end).toBe(0)
  expect(example.output()).toBe('I pretend that engines weave.\n(stop, 5 tokens)\n')
})

type Part = Awaited<ReturnType<MockLanguageModelV3['doStream']>>['stream'] extends ReadableStream<infer T> ? T : never

const says = (delta: string): Part[] => [
  { type: 'text-start', id: '1' },
  { type: 'text-delta', id: '1', delta },
]
const FINISH: Part = {
  type: 'finish',
  finishReason: { unified: 'length', raw: 'max_tokens' },
  usage: {
    inputTokens: { total: 9, noCache: 9, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 2, text: 2, reasoning: 0 },
  },
}

/** A thread in which Ada has asked a model of the AI SDK, and a function that waits for the end of its answer. */
async function askModel(model: MockLanguageModelV3, tools?: Parameters<typeof createAiSdk>[1]) {
  const config = { assistant: { system_prompt: 'Be brief.' } }
  const service = await startService('sqlite::memory:', { config, ports: { assistant: createAiSdk(model, tools) } })
  onTestFinished(() => service.close())
  const { ada, root } = await startThread(service)
  const { message_id } = await ada.messages.reply(root.message_id, { content: 'Why?', role: 'assistant' })
  const params = { message_id }
  return {
    ada,
    params,
    async end() {
      await innerState(service).answers.idle()
      return {
        message: await ada.messages.get(params.message_id),
        chunks: await ada.answers.listChunks(params.message_id),
      }
    },
  }
}

it('the AI SDK is told the thread, and its stream, usage and finish reason become the answer', async () => {
  const chunks = [...says('Light '), ...says('scatters.').slice(1), { type: 'text-end', id: '1' } as const, FINISH]
  const model = new MockLanguageModelV3({
    doStream: async () => ({ stream: simulateReadableStream({ chunks, chunkDelayInMs: 100 }) }),
  })
  const { end } = await askModel(model)
  const { message, chunks: stored } = await end()
  expect(model.doStreamCalls[0]!.prompt).toMatchObject([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'text', text: 'first' }] },
    { role: 'user', content: [{ type: 'text', text: 'Why?' }] },
  ])
  expect(message).toMatchObject({
    status: 'complete',
    content: 'Light scatters.',
    finish_reason: 'length',
    usage: { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 },
  })
  expect(stored.map(({ content }) => content)).toEqual(['Light ', 'scatters.'])
})

it('a cancelled answer stops the work of the AI SDK', async () => {
  const model = new MockLanguageModelV3({
    // Sends text, and never ends.
    doStream: async () => ({
      stream: new ReadableStream<Part>({
        start(controller) {
          for (const part of says('Light ')) controller.enqueue(part)
        },
      }),
    }),
  })
  const { ada, params, end } = await askModel(model)
  await expect.poll(() => model.doStreamCalls.length).toBe(1)
  const { abortSignal } = model.doStreamCalls[0]!
  const aborted = new Promise((resolve) => abortSignal!.addEventListener('abort', resolve))
  await expect.poll(() => ada.answers.listChunks(params.message_id)).toHaveLength(1)
  await ada.answers.cancel(params.message_id)
  await aborted
  expect((await end()).message).toMatchObject({ status: 'cancelled', content: 'Light ' })
})

it('an error of the AI SDK fails the answer, and its text is not disclosed', async () => {
  const chunks: Part[] = [...says('Light '), { type: 'error', error: new Error('key sk-secret is wrong') }]
  const model = new MockLanguageModelV3({ doStream: async () => ({ stream: simulateReadableStream({ chunks }) }) })
  const { message } = await (await askModel(model)).end()
  expect(message).toMatchObject({ status: 'failed', content: 'Light ', finish_reason: 'failed' })
  expect(JSON.stringify(message)).not.toContain('sk-secret')
})

/** A model that sends one of these lists each time it is asked. */
function sends(...answers: Part[][]) {
  return new MockLanguageModelV3({
    doStream: async () => ({ stream: simulateReadableStream({ chunks: answers.shift()! }) }),
  })
}

const calls = (toolCallId: string, toolName: string, input: string, rest: object = {}): Part => ({
  ...{ type: 'tool-call', toolCallId, toolName, input },
  ...rest,
})
const DONE: Part = { ...FINISH, finishReason: { unified: 'tool-calls', raw: undefined } } as Part
const SCHEMA = { type: 'object', properties: { city: { type: 'string' } } } as const

it('reasoning, sources, and tools that the AI SDK runs are parts of the answer', async () => {
  const model = sends(
    [
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning-delta', id: 'r', delta: 'Hm' },
      { type: 'reasoning-end', id: 'r', providerMetadata: { maker: { signature: 's' } } },
      ...says('I look. '),
      { type: 'text-end', id: '1' },
      calls('c1', 'weather', '{"city":"Ulm"}'),
      calls('c2', 'weather', '{"city":"Rome"}'),
      calls('p1', 'search', '{}', { providerExecuted: true, dynamic: true }),
      { type: 'tool-result', toolCallId: 'p1', toolName: 'search', result: { hits: 1 }, dynamic: true },
      DONE,
    ],
    [
      { type: 'source', sourceType: 'url', id: 's1', url: 'https://example.org/sky', title: 'The sky' },
      { type: 'source', sourceType: 'url', id: 's2', url: 'gs://bucket/sky' },
      { type: 'source', sourceType: 'document', id: 's3', mediaType: 'application/pdf', title: 'Clouds' },
      ...says('It rains.'),
      { type: 'text-end', id: '1' },
      FINISH,
    ],
  )
  const weather = tool({
    inputSchema: jsonSchema<{ city: string }>(SCHEMA),
    execute: async ({ city }) => {
      if (city === 'Rome') throw new Error('key sk-secret is wrong')
      return { sky: 'rain' }
    },
  })
  const { end } = await askModel(model, { weather })
  const { message } = await end()
  expect(message).toMatchObject({ status: 'complete', content: 'I look. It rains.', finish_reason: 'length' })
  expect(message.parts).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ type: 'reasoning', text: 'Hm' }),
      expect.objectContaining({ name: 'weather', state: 'done', input: { city: 'Ulm' }, output: { sky: 'rain' } }),
      expect.objectContaining({
        name: 'weather',
        state: 'failed',
        error: { code: 'tool_error', message: 'The tool has failed.' },
      }),
      expect.objectContaining({ name: 'search', state: 'done', output: { hits: 1 }, by_provider: true }),
      expect.objectContaining({ url: 'https://example.org/sky', title: 'The sky' }),
      expect.objectContaining({ filename: 'Clouds', media_type: 'application/pdf' }),
    ]),
  )
  expect(message.parts!.filter(({ type }) => type === 'source')).toHaveLength(2)
  expect(JSON.stringify(message)).not.toMatch(/signature|sk-secret/)
})

it('a tool of the service is called by it, and the model gets the result in the next step', async () => {
  const tools = [{ name: 'refund', description: 'Pays back', schema: SCHEMA }]
  const signed = { providerMetadata: { maker: { signature: 's' } } }
  const model = sends(
    [...says('So.'), { type: 'text-end', id: '1' }, calls('c1', 'refund', '{"city":"Ulm"}', signed), DONE],
    [...says('Done'), { type: 'text-end', id: '1' }, FINISH],
  )
  const assistant = createAiSdk(model)
  const pieces = []
  for await (const piece of assistant({ ...asking('Refund it'), tools })) pieces.push(piece)
  expect(pieces.slice(0, 2)).toEqual([
    'So.',
    {
      tool_call: { id: 'c1', name: 'refund', input: { city: 'Ulm' } },
      provider_data: { maker: { signature: 's' } },
    },
  ])
  expect(model.doStreamCalls).toHaveLength(1)
  expect(model.doStreamCalls[0]!.tools).toMatchObject([{ name: 'refund', description: 'Pays back' }])

  const call = { id: 1, type: 'tool' as const, call_id: '0190', name: 'refund', step: 1, input: { city: 'Ulm' } }
  const so_far = [
    { id: 0, type: 'text' as const, text: 'So.' },
    { ...call, state: 'done' as const, output: { paid: 7 }, provider_data: { maker: { signature: 's' } } },
    { ...call, state: 'denied' as const, call_id: '0191', error: { code: 'denied', message: 'Denied.' } },
  ]
  const request = asking('Refund it')
  request.turns.unshift({
    role: 'assistant',
    content: 'So.',
    parts: [{ id: 0, type: 'reasoning', text: 'Hm' }, ...so_far],
  })
  for await (const _ of assistant({ ...request, step: 2, so_far }));
  const answer = [
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'So.' },
        { type: 'tool-call', toolCallId: '0190', toolName: 'refund', providerOptions: { maker: { signature: 's' } } },
        { type: 'tool-call', toolCallId: '0191', toolName: 'refund' },
      ],
    },
    {
      role: 'tool',
      content: [
        { type: 'tool-result', toolCallId: '0190', output: { type: 'json', value: { paid: 7 } } },
        { type: 'tool-result', toolCallId: '0191', output: { type: 'error-text', value: 'Denied.' } },
      ],
    },
  ]
  expect(model.doStreamCalls[1]!.prompt).toMatchObject([...answer, { role: 'user' }, ...answer])
})

it('a call that the AI SDK cannot read is answered by it, and not run by the service', async () => {
  const model = sends(
    [calls('c1', 'refund', '{"city":'), DONE],
    [
      ...says('Sorry'),
      { type: 'text-end', id: '1' },
      { type: 'file', mediaType: 'image/png', data: new Uint8Array([1, 2]) },
      FINISH,
    ],
  )
  const tools = [{ name: 'refund', description: 'Pays back', schema: SCHEMA }]
  const pieces: object[] = []
  for await (const piece of createAiSdk(model)({ ...asking('Refund it'), tools }))
    pieces.push(typeof piece === 'string' ? { text: piece } : piece)
  expect(pieces).toMatchObject([
    { tool: { id: 'c1', name: 'refund' } },
    { tool: { id: 'c1', name: 'refund', error: 'The tool has failed.' } },
    { text: 'Sorry' },
    { file: { name: 'file.png', bytes: new Uint8Array([1, 2]) } },
    { finish_reason: 'length' },
  ])
})
