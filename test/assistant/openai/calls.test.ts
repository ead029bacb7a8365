import { expect, it } from 'vitest'
import { type CallFragment, createCalls } from '../../../lib/assistant/openai/calls.ts'
import { createRandom } from '../../fault/random.ts'

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
  [
    'whole, where all have the same index and no id',
    [
      { index: 0, ...named('one', '{"n":1}') },
      { index: 0, ...named('one', '{"n":2}') },
      { index: 0, ...named('two', { n: 3 }) },
    ],
    [
      { name: 'one', input: '{"n":1}' },
      { name: 'one', input: '{"n":2}' },
      { name: 'two', input: { n: 3 } },
    ],
  ],
  [
    'without an input, where all have the same index',
    [
      { index: 0, id: 'a', ...named('one', '') },
      { index: 0, id: 'b', ...named('one', '') },
    ],
    [
      { id: 'a', name: 'one', input: '{}' },
      { id: 'b', name: 'one', input: '{}' },
    ],
  ],
  [
    'by the number of some fragments',
    [
      { id: 'a', ...named('one', '{"n"') },
      { index: 0, ...more(':1}') },
    ],
    [{ id: 'a', name: 'one', input: '{"n":1}' }],
  ],
  [
    'with the name again at the end',
    [
      { index: 0, id: 'a', ...named('one', '{}') },
      { index: 0, ...named('one', '') },
    ],
    [{ id: 'a', name: 'one', input: '{}' }],
  ],
  ['without an input', [{ id: '', ...named('one') }], [{ name: 'one', input: '{}' }]],
  ['with broken JSON, which is passed on', [named('one', '{"a":')], [{ name: 'one', input: '{"a":' }]],
])('are joined %s', (_, fragments, expected) => {
  expect(join(...fragments)).toEqual(expected)
})

it('of no tool are refused', () => {
  expect(() => join({ index: 0, ...more('{}') })).toThrow(expect.objectContaining({ code: 'invalid_answer' }))
})

it('are at most 128, with names and ids and inputs of some length', () => {
  expect(join(...Array.from({ length: 130 }, (_, index) => ({ index, ...named('one', '{}') })))).toHaveLength(128)
  const endless = Array.from({ length: 10 }, () => more('x'.repeat(2 ** 16)))
  const [call] = join({ id: 'i'.repeat(256), ...named('one'.repeat(100)) }, ...endless)
  expect(call).toEqual({ name: 'one'.repeat(100).slice(0, 200), input: expect.stringMatching(/^x+$/) })
  expect((call!.input as string).length).toBeLessThan(2 ** 19)
})

/** Ways in which servers send the same calls. */
const SERVERS: Record<string, (call: { name: string; id: string; index: number }, pieces: string[]) => CallFragment[]> =
  {
    'numbers and ids once': ({ name, id, index }, pieces) =>
      pieces.map((piece, n) => ({ index, ...(n === 0 ? { id, ...named(name, piece) } : more(piece)) })),
    'numbers alone, with all names': ({ name, index }, pieces) =>
      pieces.map((piece) => ({ index, ...named(name, piece) })),
    'ids alone': ({ name, id }, pieces) =>
      pieces.map((piece, n) => ({ id, ...(n === 0 ? named(name, piece) : more(piece)) })),
    'another id for each fragment': ({ name, id, index }, pieces) =>
      pieces.map((piece, n) => ({ index, id: `${id}${n}`, ...named(name, piece) })),
  }

it.each(Object.keys(SERVERS))('are the same however their fragments are mixed, by %s', (server) => {
  const random = createRandom(7)
  for (let round = 0; round < 200; round++) {
    const inputs = Array.from({ length: 1 + Math.floor(random() * 4) }, (_, n) =>
      JSON.stringify({ n, text: 'a{"b":[]}' }),
    )
    const queues = inputs.map((input, index) => {
      const cuts = [1 + Math.floor(random() * 5), 6 + Math.floor(random() * 5)]
      const pieces = [input.slice(0, cuts[0]), input.slice(cuts[0], cuts[1]), input.slice(cuts[1])]
      return SERVERS[server]!({ name: index % 2 ? 'odd' : 'even', id: `call_${index}`, index }, pieces)
    })
    const sent: CallFragment[] = queues.map((queue) => queue.shift()!)
    while (queues.some(({ length }) => length > 0)) {
      const rest = queues.filter(({ length }) => length > 0)
      sent.push(rest[Math.floor(random() * rest.length)]!.shift()!)
    }
    expect(join(...sent).map(({ name, input }) => [name, input])).toEqual(
      inputs.map((input, index) => [index % 2 ? 'odd' : 'even', input]),
    )
  }
})
