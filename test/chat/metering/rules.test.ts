import { describe, expect, it } from 'vitest'
import { costOf, countTokens, fromCursor, periodOf, spansOf, toCursor } from '../../../lib/chat/metering/rules.ts'

const at = (instant: string) => Date.parse(instant) * 1000

describe('the tokens of an answer', () => {
  it.each([
    ['as counted', { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }, [10, 5], false],
    ['without a sum', { prompt_tokens: 10, completion_tokens: 5 }, [10, 5], false],
    ['with the sum and one part', { prompt_tokens: 10, total_tokens: 15 }, [10, 5], false],
    ['with a sum that is less than a part', { completion_tokens: 10, total_tokens: 5 }, [0, 10], false],
    ['with a prompt alone', { prompt_tokens: 10 }, [10, 3], true],
    ['not counted', undefined, [25, 3], true],
    ['with a sum alone', { total_tokens: 99 }, [25, 3], true],
    ['beyond all reason', { prompt_tokens: 9e15, completion_tokens: 9e15 }, [1e9, 1e9], false],
  ])('%s', (_, usage, [prompt_tokens, completion_tokens], estimated) => {
    expect(countTokens(usage, { prompt: 100, answer: 9 })).toMatchObject({
      prompt_tokens,
      completion_tokens,
      estimated,
    })
  })

  it('from a cache, or spent on reasoning, are not more than all', () => {
    const usage = { prompt_tokens: 10, completion_tokens: 5, cached_tokens: 11, reasoning_tokens: 6 }
    expect(countTokens(usage, { prompt: 0, answer: 0 })).toMatchObject({ cached_tokens: 10, reasoning_tokens: 5 })
  })
})

describe('what an answer costs', () => {
  const tokens = { prompt_tokens: 1000, completion_tokens: 100, cached_tokens: 400 }

  it.each([
    ['with a price of cached tokens', { input: 3_000_000, output: 15_000_000, cached: 300_000 }, 600 * 3 + 120 + 1500],
    ['without one', { input: 3_000_000, output: 15_000_000 }, 3000 + 1500],
    ['rounded once, half up', { input: 500, output: 0 }, 1],
    ['rounded down below that', { input: 499, output: 0 }, 0],
  ])('is exact %s', (_, price, cost) => {
    expect(costOf(tokens, { model: 'm', ...price })).toBe(cost)
  })

  it('is exact where a product is no exact number', () => {
    const many = { prompt_tokens: 999_999_999, completion_tokens: 1, cached_tokens: 0 }
    expect(costOf(many, { model: 'm', input: 999_999_999, output: 500_001 })).toBe(999_999_998_001)
  })

  it('is nothing without a price', () => {
    expect(costOf(tokens, undefined)).toBe(0)
  })
})

describe('days and months in UTC', () => {
  it.each([
    ['day', '2026-02-28T23:59:59.999Z', '2026-02-28T00:00:00Z', '2026-03-01T00:00:00Z'],
    ['month', '2026-12-31T23:59:59.999Z', '2026-12-01T00:00:00Z', '2027-01-01T00:00:00Z'],
    ['month', '2026-03-01T00:00:00.000Z', '2026-03-01T00:00:00Z', '2026-04-01T00:00:00Z'],
  ] as const)('the %s of %s', (unit, instant, starts, resets) => {
    expect(periodOf(unit, at(instant))).toEqual({ starts_at: at(starts), resets_at: at(resets) })
  })

  it.each([
    ['two days', '2026-02-03', '2026-02-05', [['day', '2026-02-03', '2026-02-05']]],
    ['a month', '2026-02-01', '2026-03-01', [['month', '2026-02-01', '2026-03-01']]],
    [
      'months with days on both sides',
      '2026-01-30',
      '2026-04-03',
      [
        ['day', '2026-01-30', '2026-02-01'],
        ['month', '2026-02-01', '2026-04-01'],
        ['day', '2026-04-01', '2026-04-03'],
      ],
    ],
    ['days of two months', '2026-01-30', '2026-02-02', [['day', '2026-01-30', '2026-02-02']]],
    ['nothing', '2026-02-02', '2026-02-02', []],
    ['nothing backwards', '2026-03-02', '2026-01-02', []],
  ])('%s', (_, from, before, spans) => {
    const day = (text: string) => at(`${text}T00:00:00Z`)
    expect(spansOf(day(from), day(before))).toEqual(
      spans.map(([unit, start, end]) => ({ unit, from: day(start!), before: day(end!) })),
    )
  })
})

it('a cursor has a key with any characters, and is of one report', () => {
  const place = { tokens: 12, key: 'a_b/c\n:d' }
  expect(fromCursor('model', toCursor('model', place))).toEqual(place)
  expect(fromCursor('user', toCursor('model', place))).toBeUndefined()
  for (const text of ['', 'x', 'user_1', 'user_99999999999999999_a']) expect(fromCursor('user', text)).toBeUndefined()
})
