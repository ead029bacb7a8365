import { H3 } from 'h3'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest'
import { type AdminClient, createAdminClient } from '../../lib/client/admin.ts'
import { createChatApp } from '../../lib/http/app.ts'
import type { Completion, CompletionChunk } from '../../lib/openai-api/schema.ts'
import { checkAnswer, checkedFetch } from '../support/answers.ts'
import { setUpService } from '../support/describe-service.ts'
import { codeOf, startService, type TestService } from '../support/service.ts'

// Nothing here touches the database, so one is enough.
let service: TestService
beforeAll(async () => {
  service = await startService('sqlite::memory:', { ports: { now: () => 1_800_000_000_123_456 } })
})
afterAll(() => service.close())

const HELLO = {
  model: 'gpt-4',
  messages: [
    { role: 'system' as const, content: 'Be brief.' },
    { role: 'user' as const, content: 'Hello there, how are you?' },
  ],
}

describe('the SDK of OpenAI', () => {
  const openai = () =>
    new OpenAI({ baseURL: `${service.base_url}/v1`, apiKey: 'any', maxRetries: 0, fetch: checkedFetch })

  it('lists two models', async () => {
    const page = await openai().models.list()
    expect(page.data).toEqual([
      { id: 'gpt-4', object: 'model', created: 1_687_882_411, owned_by: 'chat-server' },
      { id: 'gpt-3.5', object: 'model', created: 1_677_610_602, owned_by: 'chat-server' },
    ])
  })

  it('gets each message back as a choice', async () => {
    const { data, request_id } = await openai().chat.completions.create(HELLO).withResponse()
    expect(data).toEqual({
      id: expect.stringMatching(/^chatcmpl-[0-9a-f-]{36}$/),
      object: 'chat.completion',
      created: 1_800_000_000,
      model: 'gpt-4',
      choices: HELLO.messages.map(({ content }, index) => ({
        index,
        message: { role: 'assistant', content },
        finish_reason: 'stop',
      })),
      usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 },
    })
    expect(request_id).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('gets the same in chunks', async () => {
    const contents = ['', '']
    const stream = await openai().chat.completions.create({ ...HELLO, stream: true })
    const chunks = []
    for await (const chunk of stream) {
      chunks.push(chunk)
      for (const { index, delta } of chunk.choices) contents[index] += delta.content ?? ''
    }
    expect(contents).toEqual(HELLO.messages.map(({ content }) => content))
    expect(new Set(chunks.map(({ id, model, created }) => `${id} ${model} ${created}`)).size).toBe(1)
    expect(chunks.every((chunk) => !('usage' in chunk))).toBe(true)
  })

  it('joins the chunks', async () => {
    const options = { include_usage: true }
    const completion = await openai()
      .chat.completions.stream({ ...HELLO, stream_options: options })
      .finalChatCompletion()
    const contents = completion.choices.map(({ message, finish_reason }) => [message.content, finish_reason])
    expect(contents).toEqual(HELLO.messages.map(({ content }) => [content, 'stop']))
    expect(completion.usage).toEqual({ prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 })
  })

  it('may send options that only a real model uses: tools, images, a temperature', async () => {
    const { choices, model } = await openai().chat.completions.create({
      model: 'a-model-of-mine',
      temperature: 0.2,
      tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }],
      messages: [
        { role: 'developer', content: [{ type: 'text', text: 'Look.' }] },
        { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:,' } }] },
        { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: { name: 'look', arguments: '' } }] },
        { role: 'tool', tool_call_id: 'c', content: 'A cat.' },
      ],
    })
    expect(model).toBe('a-model-of-mine')
    expect(choices.map(({ message }) => message.content)).toEqual(['Look.', '', null, 'A cat.'])
  })

  it('may send a long history', async () => {
    const messages = Array.from({ length: 2_000 }, (_, i) => ({ role: 'user' as const, content: `${i}` }))
    const { choices } = await openai().chat.completions.create({ model: 'gpt-4', messages })
    expect(choices.at(-1)!.message.content).toBe('1999')
  })

  it.each<[what: string, body: object, type: unknown, expected: object]>([
    ['no model', { messages: HELLO.messages }, OpenAI.UnprocessableEntityError, { param: 'model' }],
    ['an empty model', { ...HELLO, model: '' }, OpenAI.UnprocessableEntityError, { param: 'model' }],
    ['no messages', { ...HELLO, messages: [] }, OpenAI.UnprocessableEntityError, { param: 'messages' }],
    [
      'an unknown role',
      { ...HELLO, messages: [{ role: 'robot', content: 'x' }] },
      OpenAI.UnprocessableEntityError,
      { param: 'messages[0].role' },
    ],
    [
      'content that is no text',
      { ...HELLO, messages: [...HELLO.messages, { role: 'user', content: 5 }] },
      OpenAI.UnprocessableEntityError,
      { param: 'messages[2].content' },
    ],
    [
      'too much nesting',
      { ...HELLO, metadata: JSON.parse(`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`) },
      OpenAI.BadRequestError,
      { code: 'malformed_json', param: null },
    ],
    [
      'too large a body',
      { ...HELLO, user: 'x'.repeat(1024 * 1024) },
      OpenAI.APIError,
      { status: 413, code: 'payload_too_large', param: null },
    ],
  ])('understands the refusal of %s', async (_, body, type, expected) => {
    const failed = await openai()
      .chat.completions.create(body as typeof HELLO)
      .catch((error) => error)
    expect(failed).toBeInstanceOf(type)
    expect(failed).toMatchObject({ code: 'validation_failed', type: 'invalid_request_error', ...expected })
    expect(failed.requestID).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('understands an unknown path', async () => {
    const failed = await openai()
      .models.retrieve('gpt-5')
      .catch((error) => error)
    expect(failed).toBeInstanceOf(OpenAI.NotFoundError)
    expect(failed).toMatchObject({ status: 404, code: 'not_found', param: null })
  })
})

const post = (body: object, headers: Record<string, string> = {}) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})

it('works on pages of other sites, with or without a session', async () => {
  const url = `${service.base_url}/v1/chat/completions`
  const headers = { 'sec-fetch-site': 'cross-site', origin: 'https://elsewhere.example', cookie: 'SESSION_ID=dead' }
  expect((await checkedFetch(url, post(HELLO, headers))).status).toBe(200)
  expect((await checkedFetch(`${service.base_url}/v1/models`, { headers })).status).toBe(200)
})

it("gets each model twice: in OpenAI's format, and with a display name", async () => {
  const { object, data, models } = await service.client().openai.listModels()
  expect([object, data.map(({ id }) => id)]).toEqual(['list', ['gpt-4', 'gpt-3.5']])
  expect(models).toEqual([
    { id: 'gpt-4', name: 'GPT-4', model_type: 'chat' },
    { id: 'gpt-3.5', name: 'GPT-3.5', model_type: 'chat' },
  ])
})

it('gets a stream of events that ends with [DONE]', async () => {
  const response = await checkedFetch(`${service.base_url}/v1/chat/completions`, post({ ...HELLO, stream: true }))
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  expect(response.headers.get('x-accel-buffering')).toBe('no')
  const events = (await response.text()).split('\n\n')
  expect(events.slice(-2)).toEqual(['data: [DONE]', ''])
  expect(events.slice(0, -1).every((event) => event.startsWith('data: '))).toBe(true)
})

it("gets errors in OpenAI's format for every unknown path", async () => {
  const response = await checkedFetch(`${service.base_url}/v1/embeddings`, post({}))
  expect(response.status).toBe(404)
  expect(await response.json()).toEqual({
    error: {
      message: 'There is nothing here, or it is not yours to see.',
      type: 'invalid_request_error',
      param: null,
      code: 'not_found',
    },
  })
})

describe('with features.openai_compat = false', () => {
  const without = setUpService(() =>
    startService('sqlite::memory:', { config: { features: { openai_compat: false } } }),
  )

  it.each([
    ['/v1/models', { method: 'GET' }],
    ['/v1/chat/completions', post(HELLO)],
    ['/v1/nothing', { method: 'GET' }],
    ['/v1/nothing', post(HELLO)],
  ])('%s does not exist', async (path, init) => {
    const response = await fetch(without.base_url + path, init)
    expect([response.status, response.headers.get('content-type')]).toEqual([404, 'application/problem+json'])
    expect(await response.json()).toMatchObject({ code: 'not_found', type: 'urn:chat-server:problem:not_found' })
  })

  it('other methods are refused in the form of the API', async () => {
    const response = await fetch(`${without.base_url}/v1/models`, { method: 'DELETE' })
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
    expect(await response.json()).toMatchObject({ error: { code: 'method_not_allowed' } })
  })
})

it('does not need features.auth_v1', async () => {
  const without = await startService('sqlite::memory:', { config: { features: { auth_v1: false } } })
  expect((await without.client().openai.listModels()).data).toHaveLength(2)
  await without.close()
})

it('is below the path the service is mounted under', async () => {
  const host = new H3().mount('/chat', createChatApp(service.chat) as H3)
  const get = async (path: string) => {
    const response = await host.fetch(new Request(`http://localhost/chat${path}`))
    await checkAnswer('GET', path, response)
    return response.status
  }
  expect([await get('/v1/models'), await get('/v1/nothing'), await get('/api/nothing')]).toEqual([200, 404, 404])
})

describe('the client', () => {
  it('gets the answer whole, or in chunks, depending on the input', async () => {
    const client = service.client()
    const whole = await client.openai.complete(HELLO)
    expect(whole.choices[1]!.message.content).toBe('Hello there, how are you?')
    let text = ''
    for await (const { choices } of await client.openai.complete({ ...HELLO, stream: true }))
      text += choices[0]!.delta.content ?? ''
    expect(text).toBe('Be brief.Hello there, how are you?')
    expectTypeOf(whole).toEqualTypeOf<Completion>()
    const streamed = (client: AdminClient) => client.openai.complete({ ...HELLO, stream: true })
    expectTypeOf(streamed).returns.resolves.toEqualTypeOf<AsyncGenerator<CompletionChunk>>()
  })

  it('fails with a ChatError as elsewhere, and retries where possible', async () => {
    const answers = [503, 200]
    const client = createAdminClient({
      base_url: service.base_url,
      fetch: async (input, init) =>
        answers.shift() === 503
          ? new Response('', { status: 503, headers: { 'retry-after': '0.01' } })
          : fetch(input, init),
    })
    const failed = client.openai.complete({ ...HELLO, model: '' })
    await expect(failed).rejects.toMatchObject({
      code: 'validation_failed',
      errors: [{ path: 'model', message: expect.any(String) }],
    })
    expect(answers).toEqual([])
  })
})

it('is a function of the service too', async () => {
  const { openai } = service.chat
  expect(openai.listModels().models).toHaveLength(2)
  expect(await openai.complete(HELLO)).toMatchObject({
    choices: [{}, { message: { content: HELLO.messages[1]!.content } }],
  })
  const pieces = (await openai.complete({ ...HELLO, stream: true })) as Iterable<CompletionChunk>
  expect([...pieces].at(-1)!.choices[0]!.finish_reason).toBe('stop')
  expect(await codeOf(openai.complete({ ...HELLO, model: '' }))).toBe('validation_failed')
})
