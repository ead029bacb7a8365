import { describe, expect, it } from 'vitest'
import { readAnswer } from '../../../lib/assistant/openai/answer.ts'
import { createOpenAi } from '../../../lib/assistant/openai/provider.ts'
import type { AssistantRequest } from '../../../lib/assistant/provider.ts'
import { type Behaviour, refuses, startModelServer } from '../../support/model-server.ts'
import { asking } from '../turns.ts'

const WEATHER = { name: 'weather', description: 'The weather of a city', schema: { type: 'object' } }

/** Streams these deltas, each as an event, and the end of an answer with this reason; `undefined`: without one. */
function sends(deltas: object[], finish_reason?: string): Behaviour {
  return (call) => {
    for (const delta of deltas) call.chunk({ choices: [{ index: 0, delta, finish_reason: null }] })
    if (finish_reason) call.finish(finish_reason)
    else call.end()
  }
}

/** The step of an answer that a server writes. */
async function stepOf(behaviour: Behaviour, asked: Partial<AssistantRequest> = {}) {
  const model = await startModelServer(behaviour)
  const request = { ...asking('Is it raining?'), tools: [WEATHER], ...asked }
  const texts: string[] = []
  const { signal } = request
  const pieces = createOpenAi({ base_url: model.url, model: 'tiny', pauses_ms: [0] })(request)
  const end = await readAnswer(pieces, { signal, answer_bytes: 1000 }, (text) => texts.push(text)).catch(
    (error) => error.code as string,
  )
  return { text: texts.join(''), end, sent: model.calls.map((call) => call.request as unknown as Sent) }
}

interface Sent {
  tools?: unknown
  messages: unknown[]
}

const fragment = (fields: object, name?: string, input?: unknown) => ({
  ...fields,
  function: { ...(name !== undefined && { name }), ...(input !== undefined && { arguments: input }) },
})
const tool_calls = (...fragments: object[]) => ({ tool_calls: fragments })
const ULM = { name: 'weather', input: { value: { city: 'Ulm' } } }
const BONN = { name: 'weather', input: { value: { city: 'Bonn' } } }

describe('the calls of a model', () => {
  it.each<[string, object[], object[]]>([
    [
      'in pieces that are mixed',
      [
        { content: 'I look.' },
        tool_calls(fragment({ index: 0, id: 'a' }, 'weather', '')),
        tool_calls(fragment({ index: 1, id: 'b' }, 'weather', '{"ci')),
        tool_calls(fragment({ index: 0 }, undefined, '{"city":'), fragment({ index: 1 }, undefined, 'ty":"Bonn"}')),
        tool_calls(fragment({ index: 0 }, undefined, '"Ulm"}')),
      ],
      [
        { id: 'a', ...ULM },
        { id: 'b', ...BONN },
      ],
    ],
    [
      'without ids, with the name in each piece',
      [
        tool_calls(fragment({ index: 0 }, 'weather', '{"city"')),
        tool_calls(fragment({ index: 0 }, 'weather', ':"Ulm"}')),
        tool_calls(fragment({ index: 1 }, 'weather', '{"city":"Bonn"}')),
      ],
      [ULM, BONN],
    ],
    [
      'whole and without numbers, with values',
      [tool_calls(fragment({}, 'weather', { city: 'Ulm' }), fragment({ id: '' }, 'weather', { city: 'Bonn' }))],
      [ULM, BONN],
    ],
    [
      'by the name, without numbers and ids',
      [
        tool_calls(fragment({ id: null, index: null }, 'weather', '{"city":')),
        tool_calls(fragment({}, 'weather', '"Ulm"}')),
        tool_calls(fragment({}, 'weather', '{"city":"Bonn"}')),
      ],
      [ULM, BONN],
    ],
    [
      'as older servers send the only one',
      [{ function_call: { name: 'weather', arguments: '{"city"' } }, { function_call: { arguments: ':"Ulm"}' } }],
      [ULM],
    ],
    [
      'with broken JSON',
      [tool_calls(fragment({ index: 0 }, 'weather', '{"city":'), fragment({ index: 1 }, 'weather', '{"city":"Bonn"}'))],
      [{ name: 'weather', input: { broken: true } }, BONN],
    ],
    [
      'with more than the service takes',
      [tool_calls(fragment({ index: 0 }, 'weather', JSON.stringify('x'.repeat(300_000))))],
      [{ name: 'weather', input: { broken: true } }],
    ],
  ])('are joined: %s', async (_, deltas, calls) => {
    // The reason does not decide, and may be missing.
    for (const reason of ['tool_calls', 'stop', 'length', undefined])
      expect((await stepOf(sends(deltas, reason))).end).toMatchObject({ finish_reason: reason ?? 'unknown', calls })
  })

  it('follow the text and the reasoning before them, which are kept', async () => {
    const { text, end } = await stepOf(
      sends([
        { reasoning: 'Hm' },
        { reasoning_content: ' yes' },
        { content: 'I look' },
        tool_calls(fragment({ index: 0, id: 'a' }, 'weather', '{}')),
        { content: ' it up.' },
      ]),
    )
    expect(text).toBe('I look it up.')
    expect(end).toMatchObject({ calls: [{ id: 'a', name: 'weather', input: { value: {} } }] })
  })

  it('may come at once, from a server that does not stream', async () => {
    const message = {
      role: 'assistant',
      content: null,
      tool_calls: [fragment({ id: 'a' }, 'weather', '{"city":"Ulm"}')],
    }
    const { end } = await stepOf(refuses(200, { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }))
    expect(end).toMatchObject({ calls: [{ id: 'a', ...ULM }] })
  })

  it('are no call where the reason says so and there is none', async () => {
    expect((await stepOf(sends([{ content: 'Rain' }], 'tool_calls'))).end).toMatchObject({ calls: [] })
    expect((await stepOf(sends([], 'tool_calls'))).end).toBe('empty_answer')
  })

  it('of no tool are no answer, and those of a stream that breaks are none', async () => {
    expect((await stepOf(sends([tool_calls(fragment({ index: 0 }, undefined, '{}'))], 'stop'))).end).toBe(
      'invalid_answer',
    )
    const breaks: Behaviour = (call) => {
      call.chunk({ choices: [{ index: 0, delta: tool_calls(fragment({ index: 0 }, 'weather', '{}')) }] })
      call.die()
    }
    expect((await stepOf(breaks)).end).toBe('connection_lost')
  })
})

it('the server gets the tools, and the calls of the answer with their results; without tools, none', async () => {
  const call = { id: 1, type: 'tool' as const, call_id: '0190', name: 'weather', step: 1, state: 'done' as const }
  const so_far = [
    { id: 0, type: 'text' as const, text: 'I look.' },
    { ...call, input: { city: 'Ulm' }, output: 'Rain' },
  ]
  const { sent } = await stepOf(sends([{ content: 'Yes' }], 'stop'), { step: 2, so_far })
  expect(sent).toEqual([
    expect.objectContaining({
      tools: [
        {
          type: 'function',
          function: { name: 'weather', description: 'The weather of a city', parameters: { type: 'object' } },
        },
      ],
      messages: [
        { role: 'user', content: 'Is it raining?' },
        {
          role: 'assistant',
          content: 'I look.',
          tool_calls: [{ id: '0190', type: 'function', function: { name: 'weather', arguments: '{"city":"Ulm"}' } }],
        },
        { role: 'tool', tool_call_id: '0190', content: 'Rain' },
      ],
    }),
  ])
  const last = await stepOf(sends([{ content: 'Yes' }], 'stop'), { step: 3, so_far, tools: [] })
  expect(last.sent[0]).not.toHaveProperty('tools')
  expect(last.sent[0]!.messages).toHaveLength(3)
})
