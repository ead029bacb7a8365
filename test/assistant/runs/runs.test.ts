import { expect, it, vi } from 'vitest'
import { defineTool, ToolFailure, toolResult } from '../../../lib/index.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { innerState, startThread, times } from '../../support/service.ts'
import { ANY, ask, askIn, call, type ScriptedOptions, useServices } from './world.ts'

/** A tool that returns its input. */
const same = defineTool({ description: 'Repeats', input: ANY, run: (input) => input })

/** The model says `pieces` in the first step, and `end` after that. */
const once = (...pieces: ReturnType<ScriptedOptions['script']>): ScriptedOptions['script'] => {
  return ({ step }) => (step === 1 ? pieces : ['So it is.'])
}

describeOnEachDatabase('an answer that calls tools', (openUrl) => {
  const { start } = useServices(openUrl)

  async function askWith(options: ScriptedOptions) {
    const { service, requests } = await start(options)
    return { service, requests, ...(await askIn(service)) }
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
    const usage = (prompt_tokens: number, completion_tokens: number) => ({
      usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
    })
    const { untilEnded, ada, requests, service } = await askWith({
      tools: { add },
      script: ({ step }) =>
        step === 1 ? ['Let me see.', call('add', '{"a":1,"b":2}'), usage(4, 2)] : ['Three.', usage(9, 1)],
    })
    const message = await untilEnded()
    expect(message).toMatchObject({
      status: 'complete',
      content: 'Let me see.\n\nThree.',
      usage: { prompt_tokens: 13, completion_tokens: 3, total_tokens: 16 },
    })
    expect(message.parts).toMatchObject([
      { type: 'text', text: 'Let me see.' },
      { type: 'tool', name: 'add', title: 'add', step: 1, state: 'done', input: { a: 1, b: 2 }, output: { sum: 3 } },
      { type: 'step', step: 2 },
      { type: 'text', text: '\n\nThree.' },
    ])
    expect(ran).toEqual([{ attempt: 1, user: 'ada', by: ada.id }])
    expect(requests.map(({ step, so_far, tools }) => [step, so_far.map(({ type }) => type), tools.length])).toEqual([
      [1, [], 1],
      [2, ['text', 'tool'], 1],
    ])
    expect(requests[1]!.so_far[1]).toMatchObject({ state: 'done', output: { sum: 3 } })
    const { db } = innerState(service)
    const [entry] = await db.all<object>(sql`SELECT steps, prompt_tokens, completion_tokens FROM usage_entries`)
    expect(entry).toMatchObject({ steps: 2, prompt_tokens: 13, completion_tokens: 3 })
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('runs four calls at once, each once', async () => {
    let [now, most, all] = [0, 0, 0]
    let release = () => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    const slow = defineTool({
      description: 'Waits',
      input: ANY,
      run: async () => {
        now++
        all++
        most = Math.max(most, now)
        if (all === 4) release()
        await gate
        now--
      },
    })
    const { untilEnded, calls } = await askWith({
      tools: { slow },
      script: once(...times(9, (n) => call('slow', { n }))),
    })
    expect((await untilEnded()).status).toBe('complete')
    expect([most, all]).toEqual([4, 9])
    expect((await calls()).map(({ state }) => state)).toEqual(times(9, () => 'done'))
  })

  const strict = defineTool({
    description: 'Takes a number',
    input: {
      json_schema: { type: 'object' },
      validate: (value: unknown) =>
        typeof (value as { n?: unknown }).n === 'number'
          ? { value: value as { n: number } }
          : { issues: 'n is no number' },
    },
    run: (input) => {
      const n = input?.n
      if (n === 1) throw new ToolFailure('Not today.')
      if (n === 2) throw new Error('secret: hunter2')
      return 'x'.repeat(70_000)
    },
  })

  it.each([
    ['broken JSON', call('strict', '{"n":'), 'invalid_input', /not valid/],
    ['an input that the tool refuses', call('strict', { n: 'x' }), 'invalid_input', /n is no number/],
    ['a number that JSON loses', call('strict', '{"n":1e400}'), 'invalid_input', /not valid/],
    ['a tool that there is not', call('other'), 'unknown_tool', /no such tool/],
    ['a failure with a text', call('strict', { n: 1 }), 'tool_error', /^Not today\.$/],
    ['any other error', call('strict', { n: 2 }), 'tool_error', /^The tool failed\.$/],
    ['a result that is too long', call('strict', { n: 3 }), 'output_too_large', /too long/],
  ])('fails for %s, and the model is told', async (_, piece, code, message) => {
    const { untilEnded, calls, requests } = await askWith({ tools: { strict }, script: once(piece) })
    expect((await untilEnded()).status).toBe('complete')
    expect(await calls()).toMatchObject([{ state: 'failed', error: { code, message: expect.stringMatching(message) } }])
    expect(requests[1]!.so_far).toMatchObject([{ type: 'tool', state: 'failed', error: { code } }])
    expect(JSON.stringify(requests[1])).not.toContain('hunter2')
  })

  it('fails calls beyond sixteen in a step', async () => {
    const { untilEnded, calls } = await askWith({
      tools: { same },
      script: once(...times(18, (n) => call('same', { n }))),
    })
    await untilEnded()
    const all = await calls()
    expect(all.filter(({ state }) => state === 'done')).toHaveLength(16)
    expect(all.slice(16)).toMatchObject(times(2, () => ({ state: 'failed', error: { code: 'too_many_calls' } })))
  })

  it('ends at the second call that was made too often', async () => {
    const { untilEnded, calls } = await askWith({
      tools: { same },
      assistant: { max_equal_calls: 2, max_steps: 20 },
      // Equal inputs, whatever the order of their fields is.
      script: ({ step }) => [call('same', step % 2 ? '{"a":1,"b":2}' : { b: 2, a: 1 })],
    })
    expect(await untilEnded()).toMatchObject({ status: 'failed', failure: 'too_many_steps' })
    expect((await calls()).map(({ state, error }) => error?.code ?? state)).toEqual([
      'done',
      'done',
      'repeated',
      'repeated',
    ])
  })

  it('gives no tools in the last step, and fails if it calls one', async () => {
    const { untilEnded, calls, requests } = await askWith({
      tools: { same },
      assistant: { max_steps: 2 },
      script: ({ step }) => [call('same', { step })],
    })
    expect(await untilEnded()).toMatchObject({ status: 'failed', failure: 'too_many_steps' })
    expect(requests.map(({ tools }) => tools.length)).toEqual([1, 0])
    expect(await calls()).toMatchObject([{ state: 'done' }, { state: 'failed', error: { code: 'too_many_steps' } }])
  })

  it('does not know the outcome of a call that takes too long, and asks about it the next time', async () => {
    const stuck = (idempotent: boolean) =>
      defineTool({
        description: 'Hangs',
        input: ANY,
        timeout_seconds: 1,
        idempotent,
        run: (_, { signal }) =>
          new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      })
    const { untilWaiting, calls, ada } = await askWith({
      tools: { sure: stuck(true), unsure: stuck(false) },
      script: ({ step }) => (step === 1 ? [call('sure'), call('unsure')] : [call('unsure')]),
    })
    await untilWaiting()
    expect((await calls()).map(({ name, state, error }) => [name, state, error?.code])).toEqual([
      ['sure', 'failed', 'timeout'],
      ['unsure', 'unknown', 'timeout'],
      ['unsure', 'waiting', undefined],
    ])
    expect((await ada.approvals.list({})).approvals).toMatchObject([{ by: 'asker', state: 'waiting' }])
  })

  it('starts no call of a user who has left meanwhile', async () => {
    let open = () => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    const options = { tools: { same }, script: once(gate.then(() => call('same'))) }
    const { service } = await start(options)
    const { ada, grace, conversation_id } = await startThread(service)
    const { message_id } = await ask({ ada: grace, conversation_id })
    await ada.participants.remove(conversation_id, grace.id)
    open()
    await vi.waitUntil(async () => (await ada.messages.get(message_id)).status === 'complete', { timeout: 30_000 })
    const { parts } = await ada.messages.get(message_id)
    expect(parts![0]).toMatchObject({ type: 'tool', state: 'failed', error: { code: 'asker_left' } })
  })

  it('hides from readers what the tool does not show, and not from the model', async () => {
    const secret = (show: 'input' | 'name') =>
      defineTool({ description: 'Knows', input: ANY, show, run: () => ({ answer: 'forty-two' }) })
    const { untilEnded, requests, ada, message_id } = await askWith({
      tools: { input: secret('input'), name: secret('name') },
      script: once(call('input', { q: 'asked one' }), call('name', { q: 'asked two' })),
    })
    const { parts } = await untilEnded()
    expect(parts!.slice(0, 2)).toMatchObject([{ input: { q: 'asked one' } }, { name: 'name' }])
    const shown = JSON.stringify([parts, await ada.answers.listChunks(message_id)])
    expect(shown).not.toMatch(/forty-two|asked two/)
    expect(requests[1]!.so_far).toMatchObject([
      { input: { q: 'asked one' }, output: { answer: 'forty-two' } },
      { input: { q: 'asked two' }, output: { answer: 'forty-two' } },
    ])
  })

  it('gives the model what readers do not get of earlier answers', async () => {
    const know = defineTool({ description: 'Knows', input: ANY, show: 'name', run: () => ({ answer: 'forty-two' }) })
    const world = await askWith({
      tools: { know },
      assistant: { context: 'thread' },
      script: once(call('know', { q: 1 })),
    })
    await world.untilEnded()
    const { message_id } = await world.ada.messages.reply(world.message_id, { content: 'And?', role: 'assistant' })
    await vi.waitUntil(async () => (await world.ada.messages.get(message_id)).status === 'complete', {
      timeout: 30_000,
    })
    const earlier = world.requests.at(-2)!.turns.find(({ parts }) => parts)!
    expect(earlier.parts![0]).toMatchObject({ type: 'tool', input: { q: 1 }, output: { answer: 'forty-two' } })
  })

  it('shows the sources and data that a tool returns', async () => {
    const look = defineTool({
      description: 'Looks',
      input: ANY,
      run: () =>
        toolResult({
          output: 'found',
          parts: [
            { source: { url: 'https://example.org/a', title: 'A' } },
            { source: { url: 'javascript:alert(1)' } },
            { data: { name: 'chart', data: [1, 2] } },
          ],
        }),
    })
    const { untilEnded } = await askWith({ tools: { look }, script: once(call('look')) })
    expect((await untilEnded()).parts).toMatchObject([
      { type: 'tool', state: 'done', output: 'found' },
      { type: 'source', url: 'https://example.org/a' },
      { type: 'data', name: 'chart', data: [1, 2] },
      { type: 'step' },
      { type: 'text' },
    ])
  })

  it.each([
    [
      'refuses',
      () => ({ refuse: 'Not on Sundays.' }),
      { state: 'failed', error: { code: 'refused', message: 'Not on Sundays.' } },
    ],
    [
      'has it approved',
      () => ({ approval: { by: 'asker' as const } }),
      { state: 'waiting', approval: { by: 'asker', quorum: 1 } },
    ],
    [
      'throws',
      () => {
        throw new Error('broken')
      },
      { state: 'failed', error: { code: 'refused' } },
    ],
    ['says nothing', () => undefined, { state: 'done' }],
  ])('asks the host before a call: it %s', async (_, verdict, expected) => {
    const asked: unknown[] = []
    const { calls, untilEnded, untilWaiting, ada } = await askWith({
      tools: { same },
      script: once(call('same', { n: 1 })),
      ports: {
        hooks: {
          beforeTool: (given) => {
            asked.push(given)
            return verdict()
          },
        },
      },
    })
    await (expected.state === 'waiting' ? untilWaiting() : untilEnded())
    expect(await calls()).toMatchObject([expected])
    expect(asked).toMatchObject([{ name: 'same', input: { n: 1 }, user_id: ada.id, assistant: 'assistant' }])
  })

  it('of a user who cancels it: what runs is unknown, and the rest is cancelled', async () => {
    let running = () => {}
    const started = new Promise<void>((resolve) => {
      running = resolve
    })
    const aborted: unknown[] = []
    const hang = defineTool({
      description: 'Hangs',
      input: ANY,
      run: (_, { signal }) => {
        running()
        return new Promise((_, reject) =>
          signal.addEventListener('abort', () => {
            aborted.push(1)
            reject(signal.reason)
          }),
        )
      },
    })
    const pay = defineTool({ description: 'Pays', input: ANY, approval: { by: 'asker' }, run: () => 1 })
    const { ada, message_id, calls, service, untilEnded } = await askWith({
      tools: { hang, pay },
      script: once(call('hang'), call('pay')),
    })
    await started
    await expect
      .poll(async () => (await calls()).map(({ state }) => state), { timeout: 30_000 })
      .toEqual(['running', 'waiting'])
    await ada.answers.cancel(message_id)
    expect((await untilEnded()).status).toBe('cancelled')
    expect((await calls()).map(({ state }) => state)).toEqual(['unknown', 'cancelled'])
    expect((await ada.approvals.list({})).approvals).toMatchObject([{ state: 'cancelled' }])
    await expect.poll(() => aborted, { timeout: 30_000 }).toEqual([1])
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })
})
