import { expect, it } from 'vitest'
import { SENTENCES, withResult } from '../../lib/assistant/call-results.ts'
import { toEarlierParts } from '../../lib/assistant/earlier-parts.ts'
import type { GivenPart } from '../../lib/assistant/provider.ts'
import { ToolState } from '../../lib/chat/answers/schema-parts.ts'

const CALL = { id: 1, type: 'tool', call_id: 'c', name: 'refund', step: 1, input: { order: 7 } } as const
const NONE = new Map<string, never>()

/** The result of a call of an earlier answer. */
function resultOf(part: object, hidden: Parameters<typeof toEarlierParts>[1] = NONE) {
  const [result] = toEarlierParts([{ ...CALL, ...part } as GivenPart], hidden)
  const { output, error, cut, input } = result as Extract<GivenPart, { type: 'tool' }>
  return { output, error, cut, input }
}

it('a call without a result has a sentence for each state, and that of unknown says that it may have happened', () => {
  for (const state of ToolState.options)
    expect(withResult({ ...CALL, state })).toMatchObject({ error: { code: state, message: SENTENCES[state] } })
  expect(SENTENCES.unknown).toMatch(/may have/)
  for (const state of ['denied', 'expired', 'cancelled'] as const) expect(SENTENCES[state]).toMatch(/has not run/)
})

it.each([
  [
    'a failure, its reason',
    { state: 'failed', error: { code: 'tool_error', message: 'No such order' } },
    'No such order',
  ],
  ['a failure without a reason', { state: 'failed', error: { code: 'tool_error', message: '' } }, SENTENCES.failed],
  [
    'a denial, its reason behind the sentence',
    { state: 'denied', error: { code: 'denied', message: 'Too much.' } },
    `${SENTENCES.denied} Too much.`,
  ],
  [
    'a sentence that it has already, once',
    { state: 'unknown', error: { code: 'timeout', message: SENTENCES.unknown } },
    SENTENCES.unknown,
  ],
])('a model is told of %s', (_, part, message) => {
  expect(resultOf(part).error).toEqual({ code: part.error.code, message })
})

it('an output is as long as a list shows, and begins like the whole one where it is longer', () => {
  const state = 'done'
  expect(resultOf({ state, output: null })).toMatchObject({ output: null, error: undefined, cut: undefined })
  const fitting = 'x'.repeat(2046)
  expect(resultOf({ state, output: fitting })).toMatchObject({ output: fitting, cut: undefined })
  for (const output of [`${fitting}x`, 'é'.repeat(40_000), { rows: Array.from({ length: 900 }, () => '😀') }]) {
    const bytes = Buffer.byteLength(JSON.stringify(output))
    const result = resultOf({ state, output })
    expect(result.cut).toBe(bytes)
    const [begin, mark] = (result.output as string).split('\n') as [string, string]
    expect(JSON.stringify(output).startsWith(begin)).toBe(true)
    expect(Buffer.byteLength(begin)).toBeLessThanOrEqual(2048)
    expect(Buffer.byteLength(begin)).toBeGreaterThan(2040)
    expect(mark).toBe(`[Cut here: these are the first ${Buffer.byteLength(begin)} of ${bytes} bytes.]`)
  }
})

it('an input stays whole; hidden values come from elsewhere, and are cut as others', () => {
  const input = { text: 'x'.repeat(10_000) }
  expect(resultOf({ state: 'done', input, output: 1 }).input).toBe(input)
  const hidden = new Map([['c', { input, output: 'y'.repeat(3000) }]])
  expect(resultOf({ state: 'done', input: undefined }, hidden)).toMatchObject({ input, cut: 3002, error: undefined })
})

it('other long values are left out, texts and short values stay', () => {
  const parts: GivenPart[] = [
    { id: 0, type: 'reasoning', text: 'x'.repeat(3000), provider_data: 1 },
    { id: 1, type: 'text', text: 'y'.repeat(3000) },
    { id: 2, type: 'data', name: 'chart', data: [1] },
  ]
  expect(toEarlierParts(parts, NONE)).toEqual([
    { id: 0, type: 'reasoning', cut: 3002, provider_data: 1 },
    parts[1],
    parts[2],
  ])
})
