import { describe, expect, it } from 'vitest'
import {
  cutOff,
  firstUnseen,
  formatSnapshot,
  parseSnapshot,
  sees,
  toWholeSnapshot,
  upTo,
} from '../../../lib/live/log/snapshots.ts'

describe('a snapshot of PostgreSQL', () => {
  it.each(['10:10:', '10:14:10,12', '4294967290:4294967305:4294967290,4294967291'])('%s is a short text', (text) => {
    const snapshot = toWholeSnapshot(text)
    expect(parseSnapshot(formatSnapshot(snapshot))).toEqual(snapshot)
  })

  it('sees the transactions below its end that are finished, and rows of older versions', () => {
    const snapshot = toWholeSnapshot('10:14:10,12')
    expect([9, 10, 11, 12, 13, 14, 15].filter((xid) => sees(snapshot, xid))).toEqual([9, 11, 13])
    expect(sees(snapshot, null)).toBe(true)
    expect(firstUnseen(snapshot)).toBe(10)
    expect(firstUnseen(toWholeSnapshot('14:14:'))).toBe(14)
  })

  it('ends at a transaction, without those that are unfinished after it', () => {
    const snapshot = toWholeSnapshot('10:14:10,12')
    expect(upTo(snapshot, 11)).toEqual({ xmax: 12, unfinished: [10] })
    expect(upTo(snapshot, 9)).toEqual({ xmax: 10, unfinished: [] })
    expect(upTo(snapshot, 20)).toEqual(snapshot)
  })

  it('ends at the next of many unfinished transactions, so that its text stays short', () => {
    const unfinished = Array.from({ length: 500 }, (_, index) => 1_000_000_000 + 3 * index)
    const snapshot = cutOff(toWholeSnapshot(`${unfinished[0]}:9000000000:${unfinished}`))
    expect(snapshot).toEqual({ xmax: unfinished[64], unfinished: unfinished.slice(0, 64) })
    expect(formatSnapshot(snapshot).length).toBeLessThan(450)
  })

  it.each(['', '_', '__', '-', 'zzzzzzzzzzzzzzzzzzzz', '1_zzzzzzzzzzzzzzzzzzzz'])('takes any text: %j', (text) => {
    const { xmax, unfinished } = parseSnapshot(text)
    for (const each of [xmax, ...unfinished]) expect(Number.isSafeInteger(each) && each >= 0).toBe(true)
  })
})
