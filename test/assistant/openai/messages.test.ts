import { expect, it } from 'vitest'
import { toAnswerMessages, toBody } from '../../../lib/assistant/openai/messages.ts'
import type { GivenPart } from '../../../lib/assistant/provider.ts'
import { createRandom } from '../../fault/random.ts'
import { asking } from '../turns.ts'

const NO_FILES = { pictures: new Map<string, string>(), texts: new Map<string, string>() }

const text = (value: string): GivenPart => ({ id: 0, type: 'text', text: value })
const call = (call_id: string, rest: object = { output: 1 }): GivenPart =>
  ({ id: 1, type: 'tool', call_id, name: 'look', step: 1, state: 'done', input: { n: 1 }, ...rest }) as GivenPart
const step: GivenPart = { id: 2, type: 'step', step: 2 }

const said = (content: string) => ({ role: 'assistant', content })
const called = (content: string | null, ...ids: string[]) => ({
  role: 'assistant',
  content,
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'look', arguments: '{"n":1}' } })),
})
const result = (tool_call_id: string, content = '1') => ({ role: 'tool', tool_call_id, content })

it.each<[string, GivenPart[], object[]]>([
  ['text alone', [text('a')], [said('a')]],
  ['nothing', [], []],
  ['a call alone', [call('c')], [called(null, 'c'), result('c')]],
  [
    'text, two calls and text',
    [text('a'), call('c'), call('d'), step, text('\n\nb')],
    [called('a', 'c', 'd'), result('c'), result('d'), said('b')],
  ],
  [
    'calls of two steps',
    [call('c'), step, call('d'), step, text('b')],
    [called(null, 'c'), result('c'), called(null, 'd'), result('d'), said('b')],
  ],
  [
    'calls between texts of one step',
    [text('a'), call('c'), text('b'), call('d')],
    [called('a', 'c'), result('c'), called('b', 'd'), result('d')],
  ],
  [
    'what a server does not take, left out',
    [{ id: 0, type: 'reasoning', text: 'Hm' }, text('a'), { id: 2, type: 'source', url: 'https://example.org/' }],
    [said('a')],
  ],
])('an answer is sent as messages: %s', (_, parts, messages) => {
  expect(toAnswerMessages(parts)).toEqual(messages)
})

it.each([
  ['a text as it is', { output: 'It rains' }, 'It rains'],
  ['an empty one as JSON', { output: '' }, '""'],
  ['null', { output: null }, 'null'],
  ['an object', { output: { a: [1] } }, '{"a":[1]}'],
  ['a failure', { error: { code: 'x', message: 'No such order' } }, 'No such order'],
])('the result of a call is %s', (_, rest, content) => {
  expect(toAnswerMessages([call('c', { state: 'done', ...rest })])[1]).toEqual(result('c', content))
})

it('a call that a model made up has a name that servers take, and one without input an object', () => {
  const [message] = toAnswerMessages([
    call('c', { name: `get weather!${'x'.repeat(100)}`, input: undefined, output: 1 }),
  ])
  expect(message).toMatchObject({
    tool_calls: [{ function: { name: `get_weather_${'x'.repeat(52)}`, arguments: '{}' } }],
  })
})

it('the body has tools only if there are any, and what the answer has so far behind the question', () => {
  const request = asking('Refund it')
  expect(toBody('tiny', request, NO_FILES)).not.toHaveProperty('tools')
  request.tools = [{ name: 'look', description: 'Looks', schema: { type: 'object' } }]
  request.turns.unshift({ role: 'assistant', content: 'ab', parts: [text('a'), call('c'), step, text('\n\nb')] })
  request.so_far = [call('d')]
  expect(toBody('tiny', request, NO_FILES)).toMatchObject({
    tools: [{ type: 'function', function: { name: 'look', description: 'Looks', parameters: { type: 'object' } } }],
    messages: [
      called('a', 'c'),
      result('c'),
      said('b'),
      { role: 'user', content: 'Refund it' },
      called(null, 'd'),
      result('d'),
    ],
  })
})

it('files of an answer are named after it, and pictures are sent of users alone', () => {
  const request = asking('What is it?')
  const attachments = [{ id: 'f', name: 'a.png', type: 'image/png', size: 3 }]
  request.turns.unshift(
    { role: 'user', content: 'Draw', attachments },
    { role: 'assistant', content: '', attachments, parts: [call('c')] },
    { role: 'assistant', content: 'Drawn', attachments },
  )
  const files = { pictures: new Map([['f', 'data:image/png;base64,AA']]), texts: new Map<string, string>() }
  const name = '[File: a.png, image/png, 3 bytes]'
  expect(toBody('tiny', request, files).messages).toEqual([
    { role: 'user', content: expect.arrayContaining([{ type: 'text', text: `Draw\n${name}` }]) },
    called(null, 'c'),
    result('c'),
    said(name),
    said(`Drawn\n${name}`),
    { role: 'user', content: 'What is it?' },
  ])
})

it('however parts follow each other, each call has one result right behind its message, and no result is alone', () => {
  const random = createRandom(3)
  for (let round = 0; round < 300; round++) {
    const parts = Array.from(
      { length: Math.floor(random() * 12) },
      (_, n) =>
        [
          text(`t${n}`),
          call(`c${n}`),
          step,
          call(`c${n}`, { output: undefined, error: { code: 'x', message: 'y' } }),
        ].at(Math.floor(random() * 4))!,
    )
    const open: string[] = []
    const results: string[] = []
    for (const message of toAnswerMessages(parts)) {
      if (message.role === 'tool') {
        expect('tool_call_id' in message && message.tool_call_id).toBe(open.shift())
        results.push((message as { tool_call_id: string }).tool_call_id)
        continue
      }
      expect(open).toEqual([])
      if ('tool_calls' in message) open.push(...message.tool_calls.map(({ id }) => id))
    }
    expect(open).toEqual([])
    expect(results).toEqual(parts.flatMap((part) => (part.type === 'tool' ? part.call_id : [])))
  }
})

it('sends what the question came with for the system in the one message for the system', () => {
  const turns = [
    { role: 'system' as const, content: 'Be brief.' },
    { role: 'user' as const, content: 'One?' },
    { role: 'system' as const, content: 'Speak French.' },
    { role: 'user' as const, content: 'Two?' },
  ]
  expect(toBody('tiny', { ...asking('Two?'), turns }, NO_FILES).messages).toEqual([
    { role: 'system', content: 'Be brief.\n\nSpeak French.' },
    { role: 'user', content: 'One?' },
    { role: 'user', content: 'Two?' },
  ])
})
