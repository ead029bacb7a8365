import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseRange } from '../../lib/files/ranges.ts'

it.each<[string | undefined, string]>([
  [undefined, 'whole'],
  ['', 'whole'],
  ['bytes=0-0', '0-1'],
  ['bytes=0-', '0-100'],
  ['bytes=10-19', '10-20'],
  ['bytes=99-', '99-100'],
  ['bytes=90-1000', '90-100'],
  ['bytes=90-99999999999999999999', '90-100'],
  ['bytes=-1', '99-100'],
  ['bytes=-1000', '0-100'],
  ['BYTES= 5-6 ', '5-7'],
  ['bytes=-0', 'unsatisfiable'],
  ['bytes=100-', 'unsatisfiable'],
  ['bytes=9999999999-', 'unsatisfiable'],
  ['bytes=100-100', 'unsatisfiable'],
  ['bytes=5-4', 'whole'],
  ['bytes=-', 'whole'],
  ['bytes=0-1,3-4', 'whole'],
  ['bytes=0-1,', 'whole'],
  ['items=0-1', 'whole'],
  ['bytes=a-b', 'whole'],
  ['bytes=0x1-', 'whole'],
  ['bytes=1.5-2', 'whole'],
  ['bytes=--1', 'whole'],
  ['bytes 0-1', 'whole'],
  [`bytes=${'9'.repeat(1000)}-`, 'whole'],
])('%j of 100 bytes is %s', (header, expected) => {
  const range = parseRange(header, 100)
  expect(typeof range === 'object' ? `${range.start}-${range.end}` : range).toBe(expected)
})

it('a range is never empty, and inside of the file', () => {
  fc.assert(
    fc.property(fc.option(fc.nat()), fc.option(fc.nat()), fc.integer({ min: 1 }), (first, last, size) => {
      const range = parseRange(`bytes=${first ?? ''}-${last ?? ''}`, size)
      if (typeof range !== 'object') return
      expect(0 <= range.start && range.start < range.end && range.end <= size).toBe(true)
      if (first !== null) expect(range.start).toBe(first)
    }),
  )
})
