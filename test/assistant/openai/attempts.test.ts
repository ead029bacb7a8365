import { describe, expect, it } from 'vitest'
import { halve } from '../../../lib/assistant/openai/attempts.ts'
import { createOpenAi } from '../../../lib/assistant/openai/provider.ts'
import {
  type Behaviour,
  diesAfter,
  refuses,
  stallsAfter,
  startModelServer,
  streams,
  writes,
} from '../../support/model-server.ts'
import { MIDDLE } from '../openai-answers.ts'
import { asking, collect } from '../turns.ts'

/** Asks a server with these behaviours, one for each call; the last one also for all that follow. */
async function ask(behaviours: Behaviour[], { pauses_ms = [0, 0], request = asking('Why?') } = {}) {
  const model = await startModelServer(...behaviours)
  const answer = collect(createOpenAi({ base_url: model.url, model: 'tiny', pauses_ms })(request))
  return { model, result: await answer.catch((error: unknown) => error) }
}

const hello = streams('Hello')
const TOO_LONG = { error: { code: 'context_length_exceeded', message: 'Too long.' } }

describe('a call of a model server', () => {
  it.each<[string, Behaviour]>([
    ['408', refuses(408, '')],
    ['429', refuses(429, '')],
    ['500', refuses(500, '')],
    ['529', refuses(529, '')],
    ['an empty stream', writes()],
    ['a stream of nothing', streams()],
  ])('is repeated twice after %s', async (_, behaviour) => {
    const answered = await ask([behaviour, behaviour, hello])
    expect(answered.result).toMatchObject({ pieces: ['Hello'], finish_reason: 'stop' })
    const failed = await ask([behaviour, behaviour, behaviour, hello])
    expect(failed.result).toBeInstanceOf(Error)
    expect(failed.model.calls).toHaveLength(3)
  })

  it.each<[string, Behaviour]>([
    ['a refusal', refuses(401, '')],
    ['rubbish', writes('rubbish\n')],
    ['an answer that has begun', diesAfter('Hel')],
    ['an error after the first word', writes(MIDDLE, 'data: {"error":{"code":500}}\n\n')],
    ['a question that is too long after the first word', writes(MIDDLE, `data: ${JSON.stringify(TOO_LONG)}\n\n`)],
  ])('is not repeated after %s', async (_, behaviour) => {
    const { result, model } = await ask([behaviour, hello])
    expect(result).toBeInstanceOf(Error)
    expect(model.calls).toHaveLength(1)
  })

  it('is repeated when the server asks for a short pause, and not when it asks for a long one', async () => {
    const short = await ask([refuses(429, '', { 'retry-after': '1' }), hello], { pauses_ms: [60_000] })
    expect(short.result).toMatchObject({ pieces: ['Hello'] })
    const long = await ask([refuses(429, '', { 'retry-after': '31' }), hello])
    expect(long.result).toMatchObject({ code: 'provider_busy', retry_after_seconds: 31 })
    const date = new Date('2026-11-29T12:00:00Z')
    const until = new Date(date.getTime() + 120_000)
    const dated = { date: date.toUTCString(), 'retry-after': until.toUTCString() }
    const later = await ask([refuses(503, '', dated), hello])
    expect(later.result).toMatchObject({ code: 'provider_busy', retry_after_seconds: 120 })
    expect([long, later].map(({ model }) => model.calls.length)).toEqual([1, 1])
  })

  it('ends while it waits, once the answer is not needed', async () => {
    const abort = new AbortController()
    const model = await startModelServer(refuses(500, ''), hello)
    const request = asking('Why?', abort.signal)
    const answer = collect(createOpenAi({ base_url: model.url, model: 'tiny', pauses_ms: [60_000] })(request))
    await model.nextCall()
    abort.abort()
    expect(await answer).toEqual({ pieces: [] })
    expect(model.calls).toHaveLength(1)
  })

  it.each<[string, Behaviour]>([
    ['by a code', refuses(400, TOO_LONG)],
    ['by a type', refuses(400, { error: { code: 400, type: 'exceed_context_size_error' } })],
    ['in words', refuses(400, { message: "This model's maximum context length is 512 tokens." })],
    ['in a stream', writes(`data: ${JSON.stringify(TOO_LONG)}\n\n`)],
  ])('is repeated once with half of the turns if they are too long, which it says %s', async (_, behaviour) => {
    const request = asking('Why?')
    request.turns.unshift(
      { role: 'system', content: 'Be brief.' },
      ...['one', 'two', 'three', 'four'].map((content) => ({ role: 'user' as const, content: content.repeat(9) })),
    )
    const { result, model } = await ask([behaviour, hello], { request })
    expect(result).toMatchObject({ pieces: ['Hello'] })
    const sent = model.calls.map(({ request: { messages } }) => messages.map(({ content }) => content))
    expect(sent[1]).toEqual(['Be brief.', 'four'.repeat(9), 'Why?'])

    const failed = await ask([behaviour, behaviour, hello], { request })
    expect(failed.result).toMatchObject({ code: 'provider_error' })
    expect(failed.model.calls).toHaveLength(2)
    const alone = await ask([behaviour, hello])
    expect(alone.result).toMatchObject({ code: 'provider_error' })
    expect(alone.model.calls).toHaveLength(1)
  })
})

it('keeps the question, however long it is', () => {
  const turns = [
    { role: 'system' as const, content: 'Be brief.' },
    { role: 'user' as const, content: 'a' },
    { role: 'user' as const, content: 'b'.repeat(99) },
  ]
  expect(halve(turns)).toEqual([turns[0], turns[2]])
})

describe('what a model thinks', () => {
  it.each(['reasoning', 'reasoning_content'])('is read from %s', async (field) => {
    const model = await startModelServer((call) => {
      call.chunk({ choices: [{ delta: { [field]: 'Hm' } }] })
      call.chunk({ choices: [{ delta: { content: '', [field]: '.' } }] })
      call.say('Yes')
      call.finish()
    })
    const pieces: unknown[] = []
    for await (const piece of createOpenAi({ base_url: model.url, model: 'tiny' })(asking('Why?'))) pieces.push(piece)
    expect(pieces.slice(0, 3)).toEqual([{ reasoning: 'Hm' }, { reasoning: '.' }, { delta: 'Yes' }])
  })

  it('begins the answer: it is not repeated', async () => {
    const { result, model } = await ask([
      (call) => {
        call.chunk({ choices: [{ delta: { reasoning: 'Hm' } }] })
        call.die()
      },
      stallsAfter(),
    ])
    expect(result).toMatchObject({ code: 'connection_lost' })
    expect(model.calls).toHaveLength(1)
  })
})
