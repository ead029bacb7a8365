import { expect, it } from 'vitest'
import { fromInstant, toInstant } from '../../lib/core/time.ts'

const MILLIS = [
  '1969-12-31T23:59:59.999Z',
  '1970-01-01T00:00:00.000Z',
  '2024-02-29T12:34:56.789Z',
  '2254-12-31T23:59:59.999Z',
]

it.each(MILLIS)('writes %s as Date does, with microseconds', (text) => {
  const micros = Date.parse(text) * 1000 + 7
  expect(toInstant(micros)).toBe(text.replace('Z', '007Z'))
  expect(fromInstant(toInstant(micros))).toBe(micros)
})

it('writes the instants of more days than it keeps the texts of', () => {
  const days = Array.from({ length: 2_500 }, (_, day) => day * 86_400_000)
  for (const millis of days) expect(toInstant(millis * 1000)).toBe(new Date(millis).toISOString().replace('Z', '000Z'))
})

it('refuses what is no instant', () => {
  expect(() => toInstant(Number.NaN)).toThrow(RangeError)
})
