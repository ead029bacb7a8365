import { expect, it } from 'vitest'
import { type AskedCall, toAskedCall } from '../../lib/assistant/asked-calls.ts'
import { toPiece } from '../../lib/assistant/pieces.ts'

/** The call of a chunk, as the service runs it. */
function callOf(tool_call: unknown, rest: object = {}): AskedCall {
  const piece = toPiece({ tool_call, ...rest })
  if (!('tool_call' in piece)) throw new Error('no call')
  return toAskedCall(piece)
}

const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth))

it.each([
  ['a value', { city: 'Ulm' }, { city: 'Ulm' }],
  ['JSON text', '{"city":"Ulm"}', { city: 'Ulm' }],
  ['JSON text of a text', '"Ulm"', 'Ulm'],
  ['nothing', undefined, {}],
  ['an empty text', ' ', {}],
  ['null', null, {}],
  ['a number', 5, 5],
  ['false', false, false],
  ['the largest number', '9007199254740991', Number.MAX_SAFE_INTEGER],
  ['a fraction', '[1.5e-3]', [0.0015]],
  ['as many levels as a request has', nested(32), nested(32)],
  ['as much as a row holds', `"${'x'.repeat(62 * 1024 - 2)}"`, 'x'.repeat(62 * 1024 - 2)],
])('takes %s as input', (_, input, value) => {
  expect(callOf({ name: 'weather', input })).toEqual({ name: 'weather', input: { value } })
})

it.each([
  ['broken JSON', '{"city":'],
  ['a text that is none', 'Ulm'],
  ['an integer that JSON loses', '{"id":9007199254740993}'],
  ['a number that is not finite when it is parsed', '{"n":[1e400]}'],
  ['a value that is not finite', { n: Number.NaN }],
  ['a bigint', { n: 1n }],
  ['a date', { at: new Date(0) }],
  ['a function', { toJSON: () => 'x' }],
  ['too many levels', nested(33)],
  ['very many levels', '['.repeat(100_000)],
  ['more than a row holds', `"${'x'.repeat(62 * 1024 - 1)}"`],
  ['more bytes than a row holds', { text: 'é'.repeat(32 * 1024) }],
  ['a text without end', ' '.repeat(1024 * 1024)],
  [
    'an object that throws when it is read',
    {
      get city() {
        throw new Error('no')
      },
    },
  ],
])('says of %s that it is broken', (_, input) => {
  expect(callOf({ name: 'weather', input })).toEqual({ name: 'weather', input: { broken: true } })
})

it('has the id of the provider, and what it keeps with the call', () => {
  expect(callOf({ id: 'call_1', name: 'get weather!', input: {} }, { provider_data: { n: 1 } })).toEqual({
    id: 'call_1',
    name: 'get weather!',
    input: { value: {} },
    provider_data: '[{"n":1}]',
  })
})

it.each([
  ['without a name', { input: {} }],
  ['with an empty name', { name: '', input: {} }],
  ['with a name that is too long', { name: 'x'.repeat(201), input: {} }],
  ['with a name that no text has', { name: 'a\0', input: {} }],
  ['with an id that is too long', { id: 'x'.repeat(256), name: 'a', input: {} }],
  ['with another key', { name: 'a', input: {}, step: 1 }],
  ['that is a text', 'weather'],
])('refuses a call %s', (_, tool_call) => {
  expect(() => toPiece({ tool_call })).toThrow(expect.objectContaining({ code: 'invalid_answer' }))
})
