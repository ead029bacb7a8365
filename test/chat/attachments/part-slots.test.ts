import { expect, it } from 'vitest'
import { createPartBuffers } from '../../../lib/chat/attachments/part-buffers.ts'
import { createPartSlots } from '../../../lib/chat/attachments/part-slots.ts'
import { codeOf, times } from '../../support/service.ts'
import { withResolvers } from '../../support/with-resolvers.ts'
import { PART } from './files.ts'

/** A part of `length` bytes of a user, from its request to `end`. */
function startPart(slots: ReturnType<typeof createPartSlots>, userId: string, length: number) {
  const { promise, resolve } = withResolvers()
  const part = { hasBuffer: false, end: resolve, done: Promise.resolve() }
  part.done = slots.take(userId, length, async (buffer) => {
    expect(buffer).toHaveLength(length)
    part.hasBuffer = true
    await promise
  })
  return part
}

const flushed = () => new Promise((resolve) => setImmediate(resolve))

it('lets parts of a user wait for memory in the order of their requests, and those of others begin', async () => {
  const slots = createPartSlots({ per_user: 9, in_all: 20, bytes_per_user: 100 })
  const parts = [60, 40, 30, 10, 200].map((length) => startPart(slots, 'ada', length))
  const other = startPart(slots, 'grace', 100)
  const begun = async () => {
    await flushed()
    return parts.map(({ hasBuffer }) => hasBuffer)
  }
  expect([await begun(), other.hasBuffer]).toEqual([[true, true, false, false, false], true])
  // 30 fit, and the 10 behind them.
  parts[1]!.end()
  expect(await begun()).toEqual([true, true, true, true, false])
  for (const n of [0, 2]) parts[n]!.end()
  expect(await begun()).toEqual([true, true, true, true, false])
  // One that is larger than all the memory of a user has it alone.
  parts[3]!.end()
  expect(await begun()).toEqual([true, true, true, true, true])
  parts[4]!.end()
  other.end()
  await Promise.all([...parts, other].map(({ done }) => done))
})

it('refuses more parts than a user, or all, may have under way; those that wait count, and failed ones no more', async () => {
  const slots = createPartSlots({ per_user: 2, in_all: 3, bytes_per_user: 10 })
  const parts = [startPart(slots, 'ada', 10), startPart(slots, 'ada', 10), startPart(slots, 'grace', 10)]
  const code = (userId: string) => codeOf(slots.take(userId, 1, async () => {}))
  expect([await code('ada'), await code('eve')]).toEqual(['rate_limited', 'unavailable'])
  for (const part of parts) part.end()
  await Promise.all(parts.map(({ done }) => done))
  for (let n = 0; n < 4; n++)
    await expect(slots.take('ada', 10, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  await slots.take('ada', 10, async () => {})
})

it('uses the buffers of whole parts again while parts are under way, never one twice at once, and keeps none', async () => {
  const buffers = createPartBuffers()
  const seen: Uint8Array[] = []
  const [first, second] = [withResolvers(), withResolvers()]
  const use = (length: number, until: Promise<void>) =>
    buffers.use(length, (buffer) => {
      seen.push(buffer)
      return until
    })
  const running = [use(PART, first.promise), use(PART, second.promise)]
  // Not compared by `expect`, which would print them.
  expect(seen[0] === seen[1]).toBe(false)
  first.resolve()
  await running[0]
  await use(PART, Promise.resolve())
  expect(seen[2] === seen[0]).toBe(true)
  await use(10, Promise.resolve())
  expect(seen[3]).toHaveLength(10)
  second.resolve()
  await running[1]
  await use(PART, Promise.resolve())
  expect(seen.indexOf(seen[4]!)).toBe(4)
})

it('keeps at most eight buffers when fewer parts are under way than before', async () => {
  const buffers = createPartBuffers()
  const seen = new Set<Uint8Array>()
  const hold = withResolvers()
  const use = (until: Promise<void>) =>
    buffers.use(PART, (buffer) => {
      seen.add(buffer)
      return until
    })
  const last = use(hold.promise)
  await Promise.all(times(12, () => use(Promise.resolve())))
  await Promise.all(times(12, () => use(Promise.resolve())))
  expect(seen.size).toBe(1 + 12 + 4)
  hold.resolve()
  await last
})
