import { simulateReadableStream } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
import { expect, it, onTestFinished } from 'vitest'
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
async function askModel(model: MockLanguageModelV3) {
  const config = { assistant: { system_prompt: 'Be brief.' } }
  const service = await startService('sqlite::memory:', { config, ports: { assistant: createAiSdk(model) } })
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
