import OpenAI from 'openai'
import { describe, expect, it, vi } from 'vitest'
import type { Hooks } from '../../../lib/index.ts'
import { useServices } from '../../assistant/runs/world.ts'
import { createPuppet } from '../../support/assistant.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { startService, type TestService } from '../../support/service.ts'

describeOnEachDatabase('chat completions', (openUrl) => {
  const servers = useServices(openUrl)

  async function start(config: object = {}, hooks: Hooks = {}) {
    const puppet = createPuppet()
    const service = await startService(servers.url(), {
      config: { features: { openai_api: true }, assistant: { drain_seconds: 0, name: 'Marvin' }, ...config },
      ports: { assistant: puppet.assistant, hooks },
    })
    servers.services.push(service)
    const ada = await service.signIn('ada')
    const { key } = await ada.keys.create({ name: 'sdk' })
    const openai = new OpenAI({ baseURL: `${service.base_url}/v1`, apiKey: key, maxRetries: 2 })
    return { service, ada, openai, puppet, key }
  }
  const messages = [
    { role: 'system' as const, content: 'Be brief.' },
    { role: 'user' as const, content: 'One?' },
    { role: 'assistant' as const, content: 'One.' },
    { role: 'user' as const, content: 'Two?' },
  ]

  it('are answered by an assistant, which gets what was said before', async () => {
    const { openai, puppet, ada } = await start()
    const asked = openai.chat.completions.create({ model: 'assistant', messages })
    const answer = await puppet.asked()
    expect(answer.request.turns.map(({ role, content }) => [role, content])).toEqual([
      ['system', 'Be brief.'],
      ['user', 'One?'],
      ['assistant', 'One.'],
      ['user', 'Two?'],
    ])
    answer.say('Two.')
    answer.end()
    const completion = await asked
    expect(completion).toMatchObject({
      object: 'chat.completion',
      model: 'assistant',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Two.' }, finish_reason: 'stop' }],
    })
    expect(completion.id).toMatch(/^chatcmpl-[0-9a-f]{32}$/)
    expect(await openai.chat.completions.retrieve(completion.id)).toEqual(completion)
    const [conversation] = (await ada.conversations.list()).conversations
    expect(conversation).toMatchObject({ title: 'API' })
    expect((await openai.models.list()).data).toMatchObject([{ id: 'assistant', owned_by: 'chat-server' }])
    expect(await openai.models.retrieve('assistant')).toMatchObject({ id: 'assistant' })
    for (const body of [{ messages }, { model: null, messages }]) {
      const unnamed = openai.chat.completions.create(body as never)
      const other = await puppet.asked()
      other.say('Two.')
      other.end()
      expect(await unnamed).toMatchObject({ model: 'assistant', choices: [{ message: { content: 'Two.' } }] })
    }
    await expect(openai.models.retrieve('gpt-4')).rejects.toMatchObject({ status: 404 })
    await expect(openai.chat.completions.create({ model: 'gpt-4', messages })).rejects.toMatchObject({ status: 404 })
  })

  it('are of whom the host knows by any scheme, and never of the echo with a credential that it does not know', async () => {
    const service = await startService(servers.url(), {
      config: { features: { openai_api: true } },
      ports: {
        assistant: createPuppet().assistant,
        identity: ({ headers }) => {
          const isKnown = headers.get('authorization') === 'Basic YWRhOmE='
          // A cookie is no credential here: a page of another site makes a browser send it.
          return isKnown || headers.has('cookie') ? { subject: 'ada' } : undefined
        },
      },
    })
    servers.services.push(service)
    const modelsFor = async (headers: Record<string, string>) => {
      const response = await fetch(`${service.base_url}/v1/models`, { headers })
      const { data } = (await response.json()) as { data?: { id: string }[] }
      return data ? data[0]!.id : response.status
    }
    expect(await modelsFor({ authorization: 'Basic YWRhOmE=' })).toBe('assistant')
    for (const authorization of ['Basic YWRhOmI=', 'Bearer x', 'Digest y'])
      expect(await modelsFor({ authorization })).toBe(401)
    expect(await modelsFor({})).toBe('gpt-4')
    expect(await modelsFor({ cookie: 'host=ada' })).toBe('gpt-4')
    const read = (headers: Record<string, string>) =>
      fetch(`${service.base_url}/v1/responses/resp_${'0'.repeat(32)}`, { headers })
    expect((await read({ authorization: 'Basic YWRhOmE=' })).status).toBe(404)
    expect((await read({ cookie: 'host=ada' })).status).toBe(401)
  })

  it('are streamed in chunks that the SDK joins', async () => {
    const { openai, puppet } = await start()
    const runner = openai.chat.completions.stream({
      model: 'assistant',
      messages,
      stream_options: { include_usage: true },
    })
    const answer = await puppet.asked()
    answer.say({ reasoning: 'Hm' }, 'Tw', 'o.', {
      finish_reason: 'length',
      usage: { prompt_tokens: 3, completion_tokens: 2 },
    } as never)
    answer.end()
    expect((await runner.finalChatCompletion()).choices).toMatchObject([
      { message: { content: 'Two.' }, finish_reason: 'length' },
    ])
    const again = openai.chat.completions.stream({
      model: 'assistant',
      messages,
      stream_options: { include_usage: true },
    })
    const second = await puppet.asked()
    second.say('Tw', 'o.')
    second.end()
    expect(await again.finalChatCompletion()).toMatchObject({
      choices: [{ message: { content: 'Two.' }, finish_reason: 'stop' }],
      usage: { total_tokens: expect.any(Number) },
    })
  })

  it.each([false, true])('stop the answer when their client leaves (stream: %s)', async (stream) => {
    const { openai, puppet, ada } = await start()
    const controller = new AbortController()
    const asked = openai.chat.completions
      .create({ model: 'assistant', messages, stream }, { signal: controller.signal })
      .then(async (answer) => {
        if (stream) for await (const _ of answer as AsyncIterable<unknown>);
      })
    const answer = await puppet.asked()
    answer.say('Two')
    await vi.waitUntil(async () => (await lastOf(ada)).content === 'Two', { timeout: 30_000 })
    controller.abort()
    await asked.catch(() => undefined)
    await answer.aborted
    expect(await lastOf(ada)).toMatchObject({ status: 'cancelled', content: 'Two' })
  })

  it.each([false, true])(
    'end with the text so far when the answer is stopped elsewhere (stream: %s)',
    async (stream) => {
      const { openai, puppet, ada } = await start()
      const asked = stream
        ? openai.chat.completions.stream({ model: 'assistant', messages }).finalChatCompletion()
        : openai.chat.completions.create({ model: 'assistant', messages })
      const answer = await puppet.asked()
      answer.say('Two')
      await vi.waitUntil(async () => (await lastOf(ada)).content === 'Two', { timeout: 15_000 })
      await ada.answers.cancel((await lastOf(ada)).id)
      const { choices } = await asked
      // No reason of this protocol is a stop by a person. After `length`, clients ask for the rest by themselves.
      expect(choices).toMatchObject([{ message: { content: 'Two' }, finish_reason: 'stop' }])
      expect((await lastOf(ada)).status).toBe('cancelled')
    },
  )

  async function lastOf(ada: Awaited<ReturnType<typeof start>>['ada']) {
    const [conversation] = (await ada.conversations.list()).conversations
    const { threads } = await ada.threads.list(conversation!.id)
    return ada.messages.get(threads[0]!.root_id)
  }

  it('tell once that an answer has failed: the SDK does not ask again', async () => {
    const { openai, puppet, ada } = await start()
    const asked = openai.chat.completions.create({ model: 'assistant', messages })
    const answer = await puppet.asked()
    answer.fail(new Error('no model'))
    await expect(asked).rejects.toMatchObject({ status: 409, code: 'conflict' })
    const [conversation] = (await ada.conversations.list()).conversations
    expect((await ada.threads.list(conversation!.id)).threads).toHaveLength(1)

    const stream = await openai.chat.completions.create({ model: 'assistant', messages, stream: true })
    const second = await puppet.asked()
    second.say('Tw')
    second.fail(new Error('no model'))
    let text = ''
    const read = async () => {
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
    }
    await expect(read()).rejects.toMatchObject({ code: 'provider_error' })
    expect(text).toBe('Tw')
  })

  it('are not asked where there is no place for their stream, and are asked once', async () => {
    const { service, openai, ada } = await start({ sse: { max_streams_per_user: 1 } })
    const actor = await service.chat.users.actor(ada.id)
    const stream = service.chat.events.followAll(actor)
    await stream.next()
    for (const streamed of [true, false])
      await expect(
        openai.chat.completions.create({ model: 'assistant', messages, stream: streamed }, { maxRetries: 0 }),
      ).rejects.toMatchObject({ status: 429 })
    await expect(openai.responses.create({ input: 'Why?' }, { maxRetries: 0 })).rejects.toMatchObject({ status: 429 })
    expect((await ada.conversations.list()).conversations).toEqual([])
    await stream.return(undefined)
  })

  it('fail where a hook of the application has withdrawn the answer', async () => {
    const { openai, puppet } = await start({}, { afterAnswer: () => ({ withdraw: 'Not that.' }) })
    for (const stream of [true, false]) {
      const asked = openai.chat.completions.create({ model: 'assistant', messages, stream }).then(async (answer) => {
        if (stream) for await (const _ of answer as AsyncIterable<unknown>);
      })
      const answer = await puppet.asked()
      answer.say('Two.')
      answer.end()
      await expect(asked).rejects.toThrow()
    }
    const events: string[] = []
    const streamed = await openai.responses.create({ input: 'Why?', stream: true })
    const answer = await puppet.asked()
    answer.say('Two.')
    answer.end()
    for await (const { type } of streamed) events.push(type)
    expect(events.at(-1)).toBe('response.failed')
  })

  it('are not found whole while they are written', async () => {
    const { openai, puppet, ada } = await start()
    const { id } = await openai.responses.create({ input: 'Why?', background: true })
    const answer = await puppet.asked()
    answer.say('Tw')
    await vi.waitUntil(async () => (await lastOf(ada)).content === 'Tw', { timeout: 30_000 })
    const completion = id.replace('resp_', 'chatcmpl-')
    await expect(openai.chat.completions.retrieve(completion, { maxRetries: 0 })).rejects.toMatchObject({ status: 409 })
    answer.end()
  })

  it.each([
    [{ n: 2 }, 'n'],
    [{ tools: [{ type: 'function', function: { name: 'f' } }] }, 'tools'],
    [{ audio: { voice: 'alloy', format: 'wav' } }, 'audio'],
    [{ store: false }, 'store'],
    [{ messages: [{ role: 'assistant', content: 'One.' }] }, 'messages'],
  ])('refuse %j', async (more, param) => {
    const { openai } = await start()
    await expect(
      openai.chat.completions.create({ model: 'assistant', messages, ...more } as never),
    ).rejects.toMatchObject({ status: 422, param })
  })

  it('take long histories with a credential alone', async () => {
    const { service, key } = await start()
    const send = (headers: Record<string, string>) =>
      fetch(`${service.base_url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({
          model: 'none',
          messages: [{ role: 'user', content: 'x' }],
          padding: 'x'.repeat(100_000),
        }),
      })
    expect((await send({})).status).toBe(413)
    expect((await send({ authorization: 'Bearer sk-other' })).status).toBe(413)
    expect((await send({ authorization: `Bearer ${key}` })).status).toBe(404)
  })
})

describe('the flags of /v1', () => {
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hello' }] })

  async function answersOf(service: TestService, headers: Record<string, string>) {
    const call = async (method: string, path: string) => {
      const response = await fetch(`${service.base_url}${path}`, {
        method,
        headers: { 'content-type': 'application/json', ...headers },
        ...(method === 'POST' && { body: path.endsWith('responses') ? '{"input":"Hello","background":true}' : body }),
      })
      const text = await response.text()
      return `${response.status}${text.includes('"gpt-4"') || text.includes('"content":"Hello"') ? ' echo' : ''}`
    }
    const models = await call('GET', '/v1/models')
    const completion = await call('POST', '/v1/chat/completions')
    const response = await call('POST', '/v1/responses')
    const conversation = await call('GET', '/v1/conversations/conv_1')
    return [models, completion, response, conversation]
  }

  it.each([
    [true, false, 'none', ['200 echo', '200 echo', '404', '404']],
    [true, false, 'foreign', ['200 echo', '200 echo', '404', '404']],
    [true, false, 'key', ['200 echo', '200 echo', '404', '404']],
    [true, false, 'dead', ['200 echo', '200 echo', '404', '404']],
    [true, true, 'none', ['200 echo', '200 echo', '401', '401']],
    [true, true, 'cookie', ['200 echo', '200 echo', '401', '401']],
    [true, true, 'foreign', ['200 echo', '200 echo', '401', '401']],
    [true, true, 'key', ['200', '404', '200', '404']],
    [true, true, 'dead', ['401', '401', '401', '401']],
    [false, true, 'none', ['401', '401', '401', '401']],
    [false, true, 'foreign', ['401', '401', '401', '401']],
    [false, true, 'key', ['200', '404', '200', '404']],
    [false, false, 'key', ['404', '404', '404', '404']],
  ] as const)(
    'openai_compat %s, openai_api %s, with the credential %s',
    async (openai_compat, openai_api, kind, expected) => {
      const service = await startService('sqlite::memory:', {
        config: { features: { openai_compat, openai_api }, assistant: { drain_seconds: 0 } },
      })
      const ada = await service.signIn('ada')
      const { key } = await ada.keys.create({ name: 'sdk' })
      const credentials = {
        none: {},
        foreign: { authorization: 'Bearer sk-something-else' },
        key: { authorization: `Bearer ${key}` },
        dead: { authorization: `Bearer ${key.slice(0, -4)}AAAA` },
        cookie: { cookie: 'chat_session=x' },
      }
      expect(await answersOf(service, credentials[kind])).toEqual(expected)
      await service.close()
    },
  )
})
