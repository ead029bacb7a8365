import { describe, expect, it } from 'vitest'
import { nextRange } from '../../../examples/web-chat/src/stream/range.ts'

const ids = Array.from({ length: 100 }, (_, index) => String(index))

describe('the rendered part of a list', () => {
  it('begins at its end, or around a row', () => {
    expect(nextRange(ids, {})).toEqual({ from: 76, to: 100 })
    expect(nextRange(ids, {}, '40')).toEqual({ from: 28, to: 52 })
    expect(nextRange(ids.slice(0, 5), {})).toEqual({ from: 0, to: 5 })
    expect(nextRange([], {})).toEqual({ from: 0, to: 0 })
  })

  it('grows to the list in bounded steps, and keeps what it has', () => {
    let range = nextRange(ids, {}, '40')
    for (let step = 0; range.from > 0 || range.to < ids.length; step++) {
      expect(step).toBeLessThan(10)
      const next = nextRange(ids, { first: ids[range.from], last: ids[range.to - 1] }, '40')
      expect(next.from).toBeLessThanOrEqual(range.from)
      expect(next.to).toBeGreaterThanOrEqual(range.to)
      expect(next.to - next.from - (range.to - range.from)).toBeLessThanOrEqual(12)
      range = next
    }
  })

  it('stays with its rows when older ones come before them, and begins anew in another part of the list', () => {
    const older = ['x', 'y', ...ids]
    expect(nextRange(older, { first: '0', last: '99' })).toEqual({ from: 0, to: 102 })
    expect(nextRange(ids, { first: 'gone', last: 'too' }, '50')).toEqual({ from: 38, to: 62 })
  })
})
