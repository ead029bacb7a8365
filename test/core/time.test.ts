import { expect, it } from 'vitest'
import { INSTANT_PATTERNS } from '../../lib/core/schema.ts'
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

const two = (number: number) => String(number).padStart(2, '0')
const upTo = (last: number) => Array.from({ length: last + 1 }, (_, number) => number)

it('takes the days that there are, as Date has them', () => {
  const years = [
    '0000',
    '0001',
    '0004',
    '0100',
    '0400',
    '1896',
    ...upTo(110).map((each) => String(1899 + each)),
    '9999',
  ]
  const days = years.flatMap((year) =>
    upTo(13).flatMap((month) => upTo(32).map((day) => `${year}-${two(month)}-${two(day)}`)),
  )
  const isDay = (text: string) => {
    const millis = Date.parse(`${text}T00:00:00Z`)
    return !Number.isNaN(millis) && new Date(millis).toISOString().startsWith(text)
  }
  expect(days.filter((each) => INSTANT_PATTERNS.day.test(each) !== isDay(each))).toEqual([])
  const { day: _, ...patterns } = INSTANT_PATTERNS
  for (const pattern of Object.values(patterns))
    expect(days.filter((each) => pattern.test(`${each}T04:31:02.02-23:59`) !== isDay(each))).toEqual([])
})

it.each(['T24:00:00Z', 'T00:60:00Z', 'T00:00:60Z', 'T00:00:00', 'T00:00:00+24:00', 'T00:00:00+01:60', 'T00:00Z'])(
  'takes no time as %s',
  (time) => {
    for (const pattern of Object.values(INSTANT_PATTERNS)) expect(pattern.test(`2024-02-29${time}`)).toBe(false)
  },
)
