import { expect, it } from 'vitest'
import { type CallFragment, createCalls } from '../../../lib/assistant/openai/calls.ts'

function join(...fragments: CallFragment[]) {
  const calls = createCalls()
  for (const fragment of fragments) calls.add(fragment)
  return calls.list()
}

const named = (name: string, input?: unknown) => ({
  function: { name, ...(input !== undefined && { arguments: input }) },
})
const more = (input: unknown) => ({ function: { arguments: input } })

it.each<[string, CallFragment[], object[]]>([
  [
    'by index, in any order',
    [
      { index: 1, id: 'b', ...named('two', '{"n"') },
      { index: 0, id: 'a', ...named('one', '') },
      { index: 1, ...more(':2}') },
      { index: 0, ...more('{}') },
    ],
    [
      { id: 'b', name: 'two', input: '{"n":2}' },
      { id: 'a', name: 'one', input: '{}' },
    ],
  ],
  [
    'by id, where all have the same index',
    [
      { index: 0, id: 'a', ...named('one', '{"n":1}') },
      { index: 0, id: 'b', ...named('one', '{"n":2}') },
    ],
    [
      { id: 'a', name: 'one', input: '{"n":1}' },
      { id: 'b', name: 'one', input: '{"n":2}' },
    ],
  ],
  [
    'by id, without an index',
    [
      { id: 'a', ...named('one', '{') },
      { id: 'b', ...named('two', '{}') },
      { id: 'a', ...more('}') },
    ],
    [
      { id: 'a', name: 'one', input: '{}' },
      { id: 'b', name: 'two', input: '{}' },
    ],
  ],
  [
    'by name, which is repeated',
    [named('one', '{"a"'), named('two', '{}'), named('one', ':1}'), named('one', '{"a":2}')],
    [
      { name: 'one', input: '{"a":1}' },
      { name: 'two', input: '{}' },
      { name: 'one', input: '{"a":2}' },
    ],
  ],
  [
    'of the last call, without any of these',
    [named('one', '{"a"'), more(':1'), more('}')],
    [{ name: 'one', input: '{"a":1}' }],
  ],
  [
    'with a name in pieces',
    [
      { index: 0, ...named('get_') },
      { index: 0, ...named('weather', '{}') },
    ],
    [{ name: 'get_weather', input: '{}' }],
  ],
  [
    'with the name again and again',
    [
      { index: 0, ...named('one', '{') },
      { index: 0, ...named('one', '}') },
    ],
    [{ name: 'one', input: '{}' }],
  ],
  [
    'with an object as its input',
    [{ id: 'a', ...named('one', { n: 1 }) }],
    [{ id: 'a', name: 'one', input: { n: 1 } }],
  ],
  ['without an input', [{ id: '', ...named('one') }], [{ name: 'one', input: '{}' }]],
  ['with broken JSON, which is passed on', [named('one', '{"a":')], [{ name: 'one', input: '{"a":' }]],
])('are joined %s', (_, fragments, expected) => {
  expect(join(...fragments)).toEqual(expected)
})

it.each<[string, CallFragment[]]>([
  ['a call without a name', [{ index: 0, ...more('{}') }]],
  ['too many calls', Array.from({ length: 129 }, (_, index) => ({ index, ...named('one', '{}') }))],
  ['an input without an end', [named('one', 'x'.repeat(2 ** 18)), more('x')]],
])('refuses %s', (_, fragments) => {
  expect(() => join(...fragments)).toThrow(expect.objectContaining({ code: 'invalid_answer' }))
})
