import { describe, expect, it } from 'vitest'
import { createOpenAi, type OpenAiOptions } from '../../../lib/assistant/openai/provider.ts'
import {
  type Behaviour,
  completes,
  stallsAfter,
  startModelServer,
  streamsForEver,
  writes,
} from '../../support/model-server.ts'
import { answerOf, DONE, END, KEY, MIDDLE } from '../openai-answers.ts'
import { asking, collect } from '../turns.ts'

describe('the request to a model server', () => {
  it('contains the turns, and nothing about the participants', async () => {
    const model = await startModelServer()
    const request = asking('Does it run?')
    request.turns.unshift(
      { role: 'system', content: 'Be brief.' },
      { role: 'assistant', content: 'Yes?', user_id: 'x' },
    )
    await collect(createOpenAi({ base_url: model.url, model: 'tiny' })(request))
    const [call] = model.calls
    expect(call!.request).toEqual({
      model: 'tiny',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'assistant', content: 'Yes?' },
        { role: 'user', content: 'Does it run?' },
      ],
      stream: true,
      stream_options: { include_usage: true },
    })
    expect(call!.headers).toMatchObject({ 'content-type': 'application/json' })
    expect(call!.headers).not.toHaveProperty('authorization')
  })

  it('has the key and the headers; configured headers override the defaults', async () => {
    const model = await startModelServer()
    const ask = (options: Partial<OpenAiOptions>) =>
      collect(createOpenAi({ base_url: `${model.url}/`, model: 'tiny', api_key: KEY, ...options })(asking('Hi')))
    await ask({ headers: [['X-Team', 'chat']] })
    await ask({ headers: [['Authorization', 'Basic abc']] })
    expect(model.calls.map(({ path, headers }) => [path, headers.authorization, headers['x-team']])).toEqual([
      ['/v1/chat/completions', `Bearer ${KEY}`, 'chat'],
      ['/v1/chat/completions', 'Basic abc', undefined],
    ])
  })
})

describe('an answer', () => {
  const whole = { pieces: ['Hel'], finish_reason: 'stop' }
  const unknown = { pieces: ['Hel'], finish_reason: 'unknown' }

  it('arrives as it is written, with usage and finish reason', async () => {
    const model = await startModelServer(stallsAfter('Hel'))
    const answer = createOpenAi({ base_url: model.url, model: 'tiny' })(asking('Hi'))[Symbol.asyncIterator]()
    expect(await answer.next()).toEqual({ value: { delta: 'Hel' }, done: false })
    const call = await model.nextCall()
    call.say('lo')
    expect(await answer.next()).toEqual({ value: { delta: 'lo' }, done: false })
    call.finish('length')
    expect(await answer.next()).toEqual({ value: { finish_reason: 'length' }, done: false })
    const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }
    expect(await answer.next()).toEqual({ value: { usage }, done: false })
    expect(await answer.next()).toEqual({ value: undefined, done: true })
  })

  it('may be split anywhere, also within a character', async () => {
    const delta = '\u{1f600}\u00fc'
    const event = Buffer.from(MIDDLE.replace('Hel', delta).replaceAll('\n', '\r\n'))
    const model = await startModelServer(stallsAfter())
    const answer = createOpenAi({ base_url: model.url, model: 'tiny' })(asking('Hi'))[Symbol.asyncIterator]()
    let next = answer.next()
    const call = await model.nextCall()
    let rest = event
    for (const cut of event.keys()) {
      // The end of an event arrives with the start of the next: both are read at once.
      call.write(Buffer.concat([rest, event.subarray(0, cut)]))
      expect(await next).toEqual({ value: { delta }, done: false })
      rest = event.subarray(cut)
      next = answer.next()
    }
    call.write(rest)
    expect(await next).toEqual({ value: { delta }, done: false })
  })

  it.each<[string, Behaviour, object]>([
    ['in lines that end with CRLF', writes((MIDDLE + END).replaceAll('\n', '\r\n')), whole],
    [
      'among comments and other fields',
      writes(': hi\n\nid: 1\nevent: x\nretry: 5\nid\n', MIDDLE, ':\n', END, DONE),
      whole,
    ],
    ['without spaces, and with too many', writes(MIDDLE.replace(': ', ':'), END, 'data:   [DONE] \n\n'), whole],
    ['without a [DONE]', writes(MIDDLE, END), whole],
    ['without a reason', writes(MIDDLE, DONE), unknown],
    ['that ends without a word on that', writes(MIDDLE), unknown],
    ['that ends within a line', writes(MIDDLE, 'dat'), unknown],
    ['cut off after its end', writes(MIDDLE, END, 'data: {"cho'), whole],
    [
      'torn off after its end',
      (call) => {
        call.write(MIDDLE + END)
        call.die()
      },
      whole,
    ],
    ['that goes on after [DONE]', writes(MIDDLE, DONE, 'rubbish\n'), unknown],
    ['that stays open after [DONE]', (call) => call.write(MIDDLE + DONE), unknown],
    ['with a byte order mark', writes(`\ufeff${MIDDLE}`, END), whole],
    ['with a single newline between events', writes((MIDDLE + END).replaceAll('\n\n', '\n')), whole],
    [
      'that only has a line of nearly a mebibyte',
      writes(MIDDLE.replace('Hel', 'x'.repeat(2 ** 20 - 99)), DONE),
      { pieces: ['x'.repeat(2 ** 20 - 99)], finish_reason: 'unknown' },
    ],
    [
      'not streamed at all',
      completes('Hel'),
      { ...whole, usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } },
    ],
  ])('is read %s', async (_, behaviour, expected) => {
    expect(await answerOf(behaviour)).toEqual(expected)
  })

  it.each([
    [{ choices: [] }],
    [{ choices: [], prompt_filter_results: [{}] }],
    [{ choices: null, usage: {} }],
    [{ choices: [{}] }],
    [{ choices: [{ delta: null, finish_reason: null }] }],
    [{ choices: [{ delta: { role: 'assistant' } }] }],
    [
      {
        choices: [{ delta: { content: null, reasoning_content: 5 }, finish_reason: '' }],
        usage: null,
        error: null,
      },
    ],
    [{ choices: [{ delta: { content: '' } }], usage: { prompt_tokens: null, completion_tokens: -1 } }],
  ])('has nothing of %j', async (chunk) => {
    const { usage: _, ...answer } = await answerOf(writes(`data: ${JSON.stringify(chunk)}\n\n`, MIDDLE, END))
    expect(answer).toEqual(whole)
  })

  it('keeps the known fields of the usage', async () => {
    const details = {
      prompt_tokens_details: { cached_tokens: 2, audio: 0 },
      completion_tokens_details: { reasoning_tokens: 1 },
    }
    const usage = { completion_tokens: 3, more: 'x', ...details }
    const answer = await answerOf(writes(MIDDLE, END, `data: ${JSON.stringify({ usage })}\n\n`))
    expect(answer).toEqual({ ...whole, usage: { completion_tokens: 3, cached_tokens: 2, reasoning_tokens: 1 } })
  })
})

describe('an abort', () => {
  it.each<[string, Behaviour, string[]]>([
    ['before the first word', () => {}, []],
    ['while it is waited for', stallsAfter(), []],
    ['in the middle', stallsAfter('Hel'), ['Hel']],
  ])('reaches the server %s', async (_, behaviour, pieces) => {
    const model = await startModelServer(behaviour)
    const abort = new AbortController()
    const seen: unknown[] = []
    const reading = (async () => {
      for await (const piece of createOpenAi({ base_url: model.url, model: 'tiny' })(asking('Hi', abort.signal))) {
        seen.push(piece)
        abort.abort()
      }
    })()
    const call = await model.nextCall()
    if (pieces.length === 0) abort.abort()
    await Promise.all([reading, call.closed])
    expect(seen).toEqual(pieces.map((delta) => ({ delta })))
  })

  it('ends an endless answer at any point', async () => {
    const model = await startModelServer(streamsForEver('more '))
    const abort = new AbortController()
    const seen: unknown[] = []
    for await (const piece of createOpenAi({ base_url: model.url, model: 'tiny' })(asking('Hi', abort.signal))) {
      seen.push(piece)
      if (seen.length === 100) abort.abort()
    }
    expect(seen).toHaveLength(100)
    await (await model.nextCall()).closed
  })

  it('before the request sends nothing', async () => {
    const model = await startModelServer()
    const answer = createOpenAi({ base_url: model.url, model: 'tiny' })(asking('Hi', AbortSignal.abort()))
    expect(await collect(answer)).toEqual({ pieces: [] })
    expect(model.calls).toEqual([])
  })

  it('happens when the reader leaves the loop', async () => {
    const model = await startModelServer(streamsForEver('more '))
    for await (const _ of createOpenAi({ base_url: model.url, model: 'tiny' })(asking('Hi'))) break
    await (await model.nextCall()).closed
  })
})
