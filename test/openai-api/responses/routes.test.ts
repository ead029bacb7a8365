import OpenAI from 'openai'
import type { ResponseStreamEvent } from 'openai/resources/responses/responses'
import { expect, it, vi } from 'vitest'
import { defineTool } from '../../../lib/index.ts'
import { ANY, call, type Script, useServices } from '../../assistant/runs/world.ts'
import { checkedFetch } from '../../support/answers.ts'
import { createPuppet } from '../../support/assistant.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { codeOf, type Person, startService, type TestService } from '../../support/service.ts'

describeOnEachDatabase('responses', (openUrl) => {
  const servers = useServices(openUrl)

  /** The SDK of OpenAI with a key of the person. */
  async function sdkOf(service: TestService, person: Person, maxRetries = 0) {
    const { key } = await person.keys.create({ name: 'sdk' })
    return new OpenAI({ baseURL: `${service.base_url}/v1`, apiKey: key, maxRetries, fetch: checkedFetch })
  }

  async function startPuppet() {
    const puppet = createPuppet()
    const service = await startService(servers.url(), {
      config: { features: { openai_api: true }, assistant: { drain_seconds: 0 } },
      ports: { assistant: puppet.assistant },
    })
    servers.services.push(service)
    const ada = await service.signIn('ada')
    return { service, ada, openai: await sdkOf(service, ada), puppet }
  }

  async function startTools(script: Script, approval: object | false = { by: 'asker', keys: true }) {
    const refund = defineTool({
      description: 'Refunds',
      input: ANY,
      run: async () => ({ refunded: true }),
      ...(approval && { approval: approval as never }),
    })
    const { service } = await servers.start({
      tools: { refund },
      script,
      config: { features: { openai_api: true } },
    })
    const ada = await service.signIn('ada')
    return { service, ada, openai: await sdkOf(service, ada) }
  }

  it('are asked and waited for, in a conversation of their own that is made once', async () => {
    const { ada, openai, puppet } = await startPuppet()
    const asked = openai.responses.create({ input: 'Why?', instructions: 'Be brief.', metadata: { of: 'me' } })
    const answer = await puppet.asked()
    expect(answer.request.turns).toMatchObject([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Why?' },
    ])
    expect(answer.request.metadata).toEqual({ of: 'me' })
    answer.say('Because.', { usage: { prompt_tokens: 7, completion_tokens: 2 } } as never)
    answer.end()
    const response = await asked
    expect(response).toMatchObject({
      object: 'response',
      status: 'completed',
      output_text: 'Because.',
      model: 'assistant',
      metadata: { of: 'me' },
      previous_response_id: null,
      error: null,
    })
    expect(response.id).toMatch(/^resp_[0-9a-f]{32}$/)
    const { conversations } = await ada.conversations.list()
    expect(conversations.map(({ title }) => title)).toEqual(['API'])

    const [one, two] = [openai.responses.create({ input: 'One?' }), openai.responses.create({ input: 'Two?' })]
    for (let n = 0; n < 2; n++) {
      const next = await puppet.asked()
      next.say(String(next.request.turns.at(-1)?.content))
      next.end()
    }
    expect([(await one).output_text, (await two).output_text]).toEqual(['One?', 'Two?'])
    expect((await ada.conversations.list()).conversations).toHaveLength(1)
    expect((await openai.responses.inputItems.list(response.id)).data).toMatchObject([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Why?' }] },
    ])
  })

  it('make that conversation once for two that ask first at once, on two nodes', async () => {
    const { ada, openai, puppet } = await startPuppet()
    const other = await startService(servers.url(), {
      config: { features: { openai_api: true }, assistant: { drain_seconds: 0 } },
      ports: { assistant: puppet.assistant },
    })
    servers.services.push(other)
    const { key } = await ada.keys.create({ name: 'other' })
    const there = new OpenAI({ baseURL: `${other.base_url}/v1`, apiKey: key, maxRetries: 0 })
    const asked = [openai, there, openai].map((sdk) => sdk.responses.create({ input: 'Why?', background: true }))
    const ids = (await Promise.all(asked)).map(({ id }) => id)
    expect(new Set(ids).size).toBe(3)
    expect((await ada.conversations.list()).conversations).toHaveLength(1)
    expect((await other.chat.ops.fsck()).findings).toEqual([])
  })

  it('are streamed, and go on in the background: another client reads on from a number', async () => {
    const { openai, puppet } = await startPuppet()
    const stream = await openai.responses.create({ input: 'Why?', stream: true })
    const answer = await puppet.asked()
    answer.say('Because ')
    const seen: ResponseStreamEvent[] = []
    for await (const event of stream) {
      seen.push(event)
      if (event.type === 'response.output_text.delta') break
    }
    const [first] = seen
    const id = first?.type === 'response.created' ? first.response.id : ''
    // It has left; the answer goes on.
    answer.say('it does.', { metadata: { by: 'model' } } as never)
    answer.end()
    const rest = await openai.responses.retrieve(id, {
      stream: true,
      starting_after: seen.at(-1)!.sequence_number,
    } as { stream: true })
    for await (const event of rest) seen.push(event)
    expect(seen.map(({ sequence_number }) => sequence_number)).toEqual(seen.map((_, n) => n))
    // SDKs resume what says that it is in the background: that is all, and the same to every reader.
    for (const event of [first, seen.at(-1)]) expect(event).toMatchObject({ response: { id, background: true } })
    expect([first, seen.at(-1)]).toMatchObject([
      { response: { metadata: {} } },
      { response: { metadata: { by: 'model' } } },
    ])
    expect(seen.at(-1)).toMatchObject({ type: 'response.completed', response: { status: 'completed' } })
    const texts = seen.flatMap((event) => (event.type === 'response.output_text.delta' ? event.delta : []))
    expect(texts.join('')).toBe('Because it does.')
    expect((await openai.responses.retrieve(id)).output_text).toBe('Because it does.')

    const replay: ResponseStreamEvent[] = []
    for await (const event of await openai.responses.retrieve(id, { stream: true })) replay.push(event)
    expect(replay).toEqual(seen)
    const after = await openai.responses.retrieve(id, { stream: true, starting_after: replay.length - 1 } as {
      stream: true
    })
    for await (const event of after) expect(event).toBeUndefined()

    // The helper of the SDK reads all, and gives what comes later.
    const helper = openai.responses.stream({ response_id: id, starting_after: 3 })
    const helped: number[] = []
    for await (const event of helper) helped.push(event.sequence_number)
    expect(helped).toEqual(replay.slice(4).map(({ sequence_number }) => sequence_number))
    expect((await helper.finalResponse()).output_text).toBe('Because it does.')
  })

  it('are cancelled, twice the same, and deleted', async () => {
    const { ada, openai, puppet } = await startPuppet()
    const { id, status, background } = await openai.responses.create({ input: 'Why?', background: true })
    expect([status, background]).toEqual(['in_progress', true])
    const answer = await puppet.asked()
    answer.say('Beca')
    await vi.waitUntil(async () => (await openai.responses.retrieve(id)).output_text === 'Beca', { timeout: 30_000 })
    expect(await openai.responses.cancel(id)).toMatchObject({
      status: 'cancelled',
      output: [{ content: [{ text: 'Beca' }] }],
    })
    expect(await openai.responses.cancel(id)).toMatchObject({ status: 'cancelled' })
    const last: ResponseStreamEvent[] = []
    for await (const event of await openai.responses.retrieve(id, { stream: true })) last.push(event)
    expect(last.at(-1)).toMatchObject({ type: 'response.incomplete', response: { status: 'cancelled' } })
    await openai.responses.delete(id)
    await expect(openai.responses.retrieve(id)).rejects.toMatchObject({ status: 404 })
    const { conversations } = await ada.conversations.list()
    expect(conversations).toHaveLength(1)
  })

  it('go below the response that they name, and not while it is written', async () => {
    const { openai, puppet } = await startPuppet()
    const { id: previous_response_id } = await openai.responses.create({ input: 'One?', background: true })
    const first = await puppet.asked()
    const below = { input: [{ role: 'user' as const, content: 'Two?' }], previous_response_id, background: true }
    await expect(openai.responses.create(below)).rejects.toMatchObject({ status: 409, code: 'message_streaming' })
    first.say('One.')
    first.end()
    await vi.waitUntil(async () => (await openai.responses.retrieve(previous_response_id)).status === 'completed', {
      timeout: 30_000,
    })
    const { id, previous_response_id: named } = await openai.responses.create(below)
    expect(named).toBe(previous_response_id)
    const { request } = await puppet.asked()
    expect(request.turns.map(({ content }) => content)).toEqual(['One?', 'One.', 'Two?'])
    expect((await openai.responses.retrieve(id)).previous_response_id).toBe(previous_response_id)
  })

  it('end at a call on which participants decide; the decision is answered by what follows', async () => {
    const { openai } = await startTools((request) =>
      request.step === 1 ? ['Let me see. ', call('refund', { order: 'A' })] : ['Done.'],
    )
    const first = await openai.responses.create({ input: 'Refund A' })
    expect(first).toMatchObject({ status: 'completed', output_text: 'Let me see. ' })
    const request = first.output.at(-1)!
    expect(request).toMatchObject({ type: 'mcp_approval_request', name: 'refund', arguments: '{"order":"A"}' })
    const decision = { type: 'mcp_approval_response' as const, approval_request_id: request.id!, approve: true }
    const second = await openai.responses.create({ input: [decision], previous_response_id: first.id })
    expect(second).toMatchObject({ id: `${first.id}_2`, previous_response_id: first.id, status: 'completed' })
    expect(second.output).toMatchObject([
      { type: 'mcp_call', name: 'refund', approval_request_id: request.id, output: '{"refunded":true}' },
      { type: 'message' },
    ])
    expect(second.output_text).toBe('\n\nDone.')
    // The same again is answered by the same.
    expect(await openai.responses.create({ input: [decision] })).toEqual(second)
    expect(await openai.responses.retrieve(first.id)).toEqual(first)
    await expect(openai.responses.retrieve(`${first.id}_3`)).rejects.toMatchObject({ status: 404 })
    const events: ResponseStreamEvent[] = []
    for await (const event of await openai.responses.create({ input: [decision], stream: true })) events.push(event)
    expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { id: second.id } })
  })

  it('have several decisions in one request, and none of them where one is refused', async () => {
    const { openai, ada } = await startTools((request) =>
      request.step === 1 ? [call('refund', { order: 'A' }), call('refund', { order: 'B' })] : ['Done.'],
    )
    const first = await openai.responses.create({ input: 'Refund both' })
    const [one, two] = first.output.map(({ id }) => ({
      type: 'mcp_approval_response' as const,
      approval_request_id: id!,
      approve: true,
    }))
    const unknown = { ...two!, approval_request_id: `mcpr_${'0'.repeat(32)}` }
    await expect(openai.responses.create({ input: [one!, unknown] })).rejects.toMatchObject({ status: 404 })
    expect((await ada.approvals.list({ mine: true })).approvals).toHaveLength(2)
    await expect(openai.responses.create({ input: [one!, { role: 'user', content: 'And?' }] })).rejects.toMatchObject({
      status: 422,
      param: 'input',
    })
    const second = await openai.responses.create({ input: [{ ...one!, approve: false }, two!] })
    expect(second).toMatchObject({ id: `${first.id}_2`, output_text: 'Done.' })
    expect(second.output).toMatchObject([
      { type: 'mcp_call', status: 'failed' },
      { type: 'mcp_call', status: 'completed' },
      { type: 'message' },
    ])
  })

  it('are not answered by the wait before their own decision, where others have decided on one call meanwhile', async () => {
    const { openai, ada } = await startTools((request) =>
      request.step === 1 ? [call('refund', { order: 'A' }), call('refund', { order: 'B' })] : ['Done.'],
    )
    const first = await openai.responses.create({ input: 'Refund both' })
    const { approvals } = await ada.approvals.list({ mine: true })
    const [one, two] = first.output.map(({ id }) => ({
      type: 'mcp_approval_response' as const,
      approval_request_id: id!,
      approve: true,
    }))
    const oneId = one!.approval_request_id.slice('mcpr_'.length)
    const { call_id } = approvals.find((each) => each.call_id.replaceAll('-', '') === oneId)!
    await ada.approvals.decide(call_id, { approve: true })
    await vi.waitUntil(async () => (await openai.responses.retrieve(`${first.id}_2`)).status === 'completed', {
      timeout: 30_000,
    })
    const last = await openai.responses.create({ input: [one!, two!] })
    expect(last).toMatchObject({ id: `${first.id}_3`, status: 'completed', output_text: 'Done.' })
    expect(last.output).toMatchObject([{ type: 'mcp_call', approval_request_id: two!.approval_request_id }, {}])
  })

  it('are not decided on by a key where the tool takes none', async () => {
    const { openai } = await startTools(() => [call('refund')], { by: 'asker' })
    const first = await openai.responses.create({ input: 'Refund' })
    const decision = {
      type: 'mcp_approval_response' as const,
      approval_request_id: first.output[0]!.id!,
      approve: true,
    }
    await expect(openai.responses.create({ input: [decision] })).rejects.toMatchObject({ status: 403 })
    expect((await openai.responses.retrieve(first.id)).output).toEqual(first.output)
  })

  it('are asked once with a key', async () => {
    const { openai, puppet } = await startPuppet()
    const ask = () =>
      openai.responses.create({ input: 'Why?', background: true }, { headers: { 'idempotency-key': 'once' } })
    const [one, two] = await Promise.all([ask(), ask()])
    expect(two.id).toBe(one.id)
    await puppet.asked()
    await expect(
      openai.responses.create({ input: 'Else?', background: true }, { headers: { 'idempotency-key': 'once' } }),
    ).rejects.toMatchObject({ status: 409, code: 'idempotency_mismatch' })
  })

  it('are of those who may read them', async () => {
    const { service, openai } = await startPuppet()
    const eve = await sdkOf(service, await service.signIn('eve'))
    const { id } = await openai.responses.create({ input: 'Why?', background: true })
    for (const read of [
      () => eve.responses.retrieve(id),
      () => eve.responses.cancel(id),
      () => eve.responses.delete(id),
      () => eve.responses.inputItems.list(id),
      () => eve.responses.create({ input: 'And?', previous_response_id: id }),
    ])
      await expect(read()).rejects.toMatchObject({ status: 404 })
  })

  it.each([
    [{ input: '' }, 422, 'input'],
    [{ input: '\u200b' }, 422, 'input'],
    [{ input: [{ role: 'system', content: 'Hm' }] }, 422, 'input'],
    [{ input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'data:' }] }] }, 422, 'input'],
    [{ input: 'x', store: false }, 422, 'store'],
    [
      {
        input: [
          { role: 'system', content: 'a\0' },
          { role: 'user', content: 'x' },
        ],
      },
      422,
      'input',
    ],
    [{ input: 'x', instructions: '\ud800' }, 422, 'instructions'],
    [{ input: 'x', conversation: '' }, 404, null],
    [{ input: 'x', conversation: ' api' }, 404, null],
    [{ input: 'x', tools: [{ type: 'web_search' }] }, 422, 'tools'],
    [{ input: 'x', prompt: { id: 'p' } }, 422, 'prompt'],
    [{ input: 'x', model: 'gpt-9' }, 404, null],
    [{ input: 'x', conversation: 'conv_1' }, 404, null],
    [{ input: 'x', previous_response_id: 'resp_1' }, 404, null],
    [{ input: 'x', previous_response_id: 'resp_1', conversation: 'conv_1' }, 422, 'previous_response_id'],
    [
      {
        input: Array.from({ length: 202 }, () => ({ role: 'assistant', content: 'a' })).concat({
          role: 'user',
          content: 'x',
        }),
      },
      422,
      'input',
    ],
    [
      {
        input: [
          { role: 'system', content: 'a'.repeat(65_530) },
          { role: 'system', content: 'aaaaaaa' },
          { role: 'user', content: 'x' },
        ],
      },
      422,
      'input',
    ],
  ] as const)('refuse what is asked for: %#', async (body, status, param) => {
    const { openai } = await startPuppet()
    await expect(openai.responses.create(body as never)).rejects.toMatchObject({ status, param })
  })

  it('are functions in the process, which return a response where they stream', async () => {
    const { service, ada, puppet } = await startPuppet()
    const actor = await service.chat.users.actor(ada.id)
    const { responses } = service.chat
    const events = (response: unknown) => {
      expect((response as Response).headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
      return (response as Response).text()
    }
    const first = await responses.create(actor, { input: 'Why?', stream: true })
    const answer = await puppet.asked()
    answer.say('Because.')
    answer.end()
    const all = await events(first)
    expect(all).toContain('event: response.completed')
    const id = /resp_\w+/.exec(all)![0]
    expect(await events(await responses.get(actor, id, { stream: true }))).toBe(all)
    expect(await events(await responses.get(actor, id, { stream: true, starting_after: 1 }))).toBe(
      all.slice(all.indexOf('event: response.output_item.added')),
    )
    expect(await responses.get(actor, id)).toMatchObject({ object: 'response', id, status: 'completed' })
    expect(await responses.create(actor, { input: 'And?', background: true })).toMatchObject({ object: 'response' })
    expect(await codeOf(responses.get(actor, id, { starting_after: 1 }))).toBe('validation_failed')
  })

  it('refuse starting_after without stream, and below 0', async () => {
    const { openai } = await startPuppet()
    const { id } = await openai.responses.create({ input: 'Why?', background: true })
    for (const query of ['starting_after=1', 'stream=true&starting_after=-1'])
      await expect(openai.get(`/responses/${id}?${query}`)).rejects.toMatchObject({ status: 422 })
  })
})
