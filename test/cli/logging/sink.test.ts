import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createLogSink } from '../../../cli/logging/sink.ts'
import { times } from '../../support/service.ts'

/** A stream whose reader can be paused. */
function stream() {
  const written: string[] = []
  let pending = 0
  return {
    written,
    isTaken: true,
    get writableLength() {
      return this.isTaken ? 0 : pending
    },
    write(text: string) {
      written.push(text)
      pending += text.length
    },
  }
}

it('writes the lines of a turn together, and urgent ones at once, in order', async () => {
  const out = stream()
  const sink = createLogSink(out, String)
  sink.write('a', false)
  sink.write('b', false)
  expect(out.written).toEqual([])
  await nextTurn()
  sink.write('c', false)
  sink.write('d', true)
  expect(out.written).toEqual(['a\nb\n', 'c\nd\n'])
  await nextTurn()
  expect(out.written).toHaveLength(2)
})

it('drops lines while the reader of the log stops, counts them, and logs the number afterwards', async () => {
  const out = stream()
  const sink = createLogSink(out, (lost) => `lost ${lost}`)
  out.isTaken = false
  const line = 'x'.repeat(1023)
  for (const _ of times(5, () => 0)) {
    for (const _ of times(1_000, () => 0)) sink.write(line, false)
    await nextTurn()
  }
  const kept = out.written.join('').length / 1024
  // A megabyte, and the lines buffered at that moment.
  expect(kept).toBeGreaterThan(1_024)
  expect(kept).toBeLessThan(1_200)
  expect(sink.dropped()).toBe(5_000 - kept)

  out.isTaken = true
  sink.write('there is room', false)
  await nextTurn()
  expect(out.written.at(-1)).toBe(`lost ${5_000 - kept}\nthere is room\n`)
  sink.write('and again', true)
  expect(out.written.at(-1)).toBe('and again\n')
})
