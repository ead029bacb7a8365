import { expect, it } from 'vitest'
import { createPartBuffers } from '../../../lib/chat/attachments/part-buffers.ts'
import { createPartSlots, type PartSlots } from '../../../lib/chat/attachments/part-slots.ts'
import { codeOf, times } from '../../support/service.ts'
import { withResolvers } from '../../support/with-resolvers.ts'
import { PART } from './files.ts'

/** A part of `length` bytes of a user, from its request to `end`. */
function startPart(slots: PartSlots, userId: string, length: number) {
  const { promise, resolve } = withResolvers()
  const part = { isRunning: false, end: resolve, done: Promise.resolve() }
  part.done = slots.take(userId, length, async ({ buffer }) => {
    expect(buffer).toHaveLength(length)
    part.isRunning = true
    await promise
  })
  return part
}

/** Ends parts, and waits until they have ended. */
async function endAll(parts: ReturnType<typeof startPart>[]): Promise<void> {
  for (const part of parts) part.end()
  await Promise.all(parts.map(({ done }) => done))
}

const flushed = () => new Promise((resolve) => setImmediate(resolve))

const KIB = 1024

it('lets parts wait for memory, whose next place is of the user with the fewest', async () => {
  const slots = createPartSlots(() => 400 * KIB, { per_user: () => 3 })
  const ofAda = times(4, () => startPart(slots, 'ada', 100 * KIB))
  const ofEve = times(2, () => startPart(slots, 'eve', 100 * KIB))
  const ofGrace = [startPart(slots, 'grace', 100 * KIB)]
  const begun = async () => {
    await flushed()
    return [ofAda, ofEve, ofGrace].map((parts) => parts.filter(({ isRunning }) => isRunning).length)
  }
  // Three are the share of a user, however many bytes are left for others; then all of these are used.
  expect(await begun()).toEqual([3, 1, 0])
  expect(slots.bytes()).toBe(400 * KIB)
  ofAda[0]!.end()
  expect(await begun()).toEqual([3, 1, 1])
  ofAda[1]!.end()
  // Both have one: it is the first that came.
  expect(await begun()).toEqual([4, 1, 1])
  await endAll([...ofAda, ...ofEve, ...ofGrace])
  expect(slots.bytes()).toBe(0)
})

it('takes a part that is larger than all the memory when no other one is there', async () => {
  const slots = createPartSlots(() => 1, {})
  const [first, second] = [startPart(slots, 'ada', 100), startPart(slots, 'grace', 100)]
  await flushed()
  expect([first.isRunning, second.isRunning]).toEqual([true, false])
  first.end()
  await flushed()
  expect(second.isRunning).toBe(true)
  second.end()
  await second.done
})

it('refuses a user who lets too many wait, and failed ones count no more', async () => {
  const slots = createPartSlots(() => 100 * PART, { per_user: () => 1, waiting_per_user: 1 })
  const parts = [startPart(slots, 'ada', 10), startPart(slots, 'ada', 10)]
  expect(await codeOf(slots.take('ada', 1, async () => {}))).toBe('rate_limited')
  await slots.take('eve', 10, async () => {})
  await endAll(parts)
  for (let n = 0; n < 4; n++)
    await expect(slots.take('ada', 10, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  await slots.take('ada', 10, async () => {})
})

it('a full queue makes room for a user who has fewer in it, at the cost of the one with the most', async () => {
  const slots = createPartSlots(() => 1, { waiting: 3 })
  const running = startPart(slots, 'ada', 10)
  const ofEve = times(3, () => startPart(slots, 'eve', 10))
  const refused = codeOf(ofEve[2]!.done)
  const ofGrace = startPart(slots, 'grace', 10)
  expect(await refused).toBe('unavailable')
  // Both have as many now.
  expect(await codeOf(slots.take('grace', 10, async () => {}))).toBe('unavailable')
  await endAll([running, ofEve[0]!, ofEve[1]!, ofGrace])
})

/** A part that arrives as a test lets it. */
function startArriving(slots: PartSlots, userId: string, length: number) {
  let send: (count: number) => void = () => {}
  const done = slots.take(userId, length, ({ signal, onBytes }) => {
    send = onBytes
    return new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  })
  return { send: (count: number) => send(count), code: codeOf(done) }
}

it('a part that moves too little loses its place, only while others wait for that place', async () => {
  const slots = createPartSlots(() => 300 * KIB, { per_user: () => 2 })
  const [still, slow, fast] = [
    startArriving(slots, 'ada', 100 * KIB),
    startArriving(slots, 'ada', 100 * KIB),
    startArriving(slots, 'eve', 100 * KIB),
  ]
  await flushed()
  for (let n = 0; n < 3; n++) slots.check()
  // Of one user only: the place of another one is not in its way.
  const own = startPart(slots, 'ada', 1)
  slow.send(64 * KIB)
  slots.check()
  expect(await still.code).toBe('request_timeout')
  await flushed()
  expect(own.isRunning).toBe(true)
  own.end()
  await own.done
  // The third place.
  const third = startArriving(slots, 'ada', 100 * KIB)
  await flushed()
  // Nothing is left: now every place is in the way.
  const grace = startPart(slots, 'grace', 100 * KIB)
  fast.send(64 * KIB)
  third.send(64 * KIB)
  slots.check()
  expect(await slow.code).toBe('request_timeout')
  await flushed()
  expect(grace.isRunning).toBe(true)
  slots.close()
  expect([await fast.code, await third.code]).toEqual(['unavailable', 'unavailable'])
  grace.end()
  await grace.done
})

it('a user who keeps several places at the least rate loses one to each user who has none', async () => {
  const slots = createPartSlots(() => 400 * KIB)
  const ofAda = times(3, () => startArriving(slots, 'ada', 100 * KIB))
  const ofEve = startArriving(slots, 'eve', 100 * KIB)
  await flushed()
  const move = (...counts: number[]) => {
    for (const [n, part] of [...ofAda, ofEve].entries()) part.send(counts[n]! * KIB)
  }
  slots.check()
  move(66, 65, 67, 64)
  slots.check()
  const waiting = [
    startPart(slots, 'ada', 1),
    startPart(slots, 'grace', 100 * KIB),
    startPart(slots, 'grace', 100 * KIB),
  ]
  move(66, 65, 67, 64)
  slots.check()
  expect(await ofAda[1]!.code).toBe('request_timeout')
  await flushed()
  // One for each user who has none; it keeps the others, and so does the one who has only one.
  expect(waiting.map(({ isRunning }) => isRunning)).toEqual([false, true, false])
  move(66, 0, 67, 64)
  slots.check()
  await flushed()
  slots.close()
  expect(await Promise.all([ofAda[0]!, ofAda[2]!, ofEve].map(({ code }) => code))).toEqual(
    times(3, () => 'unavailable'),
  )
  await endAll(waiting)
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
