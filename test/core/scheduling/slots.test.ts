import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ChatError } from '../../../lib/core/errors.ts'
import { createSlots, type Release, type SlotRequest, type Slots } from '../../../lib/core/scheduling/slots.ts'
import { promised } from '../../storage/handles.ts'
import { codeOf, times } from '../../support/service.ts'

const settled = () => new Promise((resolve) => setImmediate(resolve))

/** Asks for a slot of each name ("a1" is of the key "a"): those that have one, in this order, and those that are refused. */
async function ask(slots: Slots, names: string[], request: (name: string) => SlotRequest = () => ({})) {
  const began: string[] = []
  const refused: unknown[] = []
  const releases = new Map<string, Release>()
  for (const name of names) {
    const begin = (release: Release) => {
      began.push(name)
      releases.set(name, release)
    }
    slots.acquire(name[0]!, request(name)).then(begin, (error) => refused.push(error))
  }
  await settled()
  const end = async (...ended: string[]) => {
    for (const name of ended) {
      releases.get(name)!()
      await settled()
    }
  }
  return { began, refused, end }
}

const expectEmpty = (slots: Slots, ...keys: string[]) => {
  expect(slots.weight()).toBe(0)
  expect(slots.waitingKeys()).toEqual([])
  for (const key of keys) expect(slots.count(key)).toEqual({ running: 0, waiting: 0 })
}

it('lets keys take turns in the order of arrival, however many wait of one', async () => {
  const slots = createSlots({ max: 2 })
  const { began, end } = await ask(slots, ['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'b2', 'c1'])
  await end('a1', 'a2', 'a3', 'b1', 'c1', 'a4')
  expect(began).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2', 'a5'])
  await end('b2', 'a5')
  expectEmpty(slots, 'a', 'b', 'c')
})

it('lets a key that has its share not hold up the others', async () => {
  const { began, end } = await ask(createSlots({ max: 3, perKey: 2 }), ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'])
  expect(began).toEqual(['a1', 'a2', 'b1'])
  await end('b1')
  expect(began.at(-1)).toBe('b2')
  await end('a1')
  expect(began.at(-1)).toBe('a3')
})

it('has one line for several keys, in the order of arrival, that takes turns with others', async () => {
  const slots = createSlots({ max: 1, perKey: 1, maxWaitingPerLine: 4 })
  const line = (name: string) => ({ line: name === 'd1' ? 'other' : 'line' })
  const { began, refused, end } = await ask(slots, ['a1', 'b1', 'c1', 'b2', 'a2', 'c2', 'd1'], line)
  expect(refused).toHaveLength(1)
  await end('a1', 'b1', 'd1', 'c1', 'b2')
  expect(began).toEqual(['a1', 'b1', 'd1', 'c1', 'b2', 'a2'])
})

it('gives the next slot to the key with the fewest, and among them to the first that came', async () => {
  const slots = createSlots({ max: 4, fewestFirst: true })
  const { began, end } = await ask(slots, ['a1', 'a2', 'a3', 'b1', 'a4', 'b2', 'c1'], () => ({ line: 'all' }))
  await end('a1', 'a2', 'b1', 'a3')
  expect(began).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2'])
})

it('makes room in a full queue for a key with fewer in it, at the cost of the last one of the key with the most', async () => {
  const slots = createSlots({ max: 1, maxWaiting: 3, fewestFirst: true })
  const { began, refused, end } = await ask(slots, ['a1', 'b1', 'b2', 'b3', 'c1'])
  expect(refused).toHaveLength(1)
  // Both have as many now, but for one.
  expect(await codeOf(slots.acquire('c'))).toBe('unavailable')
  await end('a1', 'b1', 'c1')
  expect(began).toEqual(['a1', 'b1', 'c1', 'b2'])
})

it('counts by weight, lets a single one weigh more, and lets no lighter one overtake the next', async () => {
  let max = 4
  const slots = createSlots({ max: () => max })
  const weights: Record<string, number> = { a1: 9, b1: 2, c1: 3, d1: 1 }
  const { began, end } = await ask(slots, ['a1', 'b1', 'c1', 'd1'], (name) => ({ weight: weights[name]! }))
  expect([began, slots.weight()]).toEqual([['a1'], 9])
  await end('a1')
  expect([began, slots.weight()]).toEqual([['a1', 'b1'], 2])
  expect(slots.tryAcquire('e')).toBeUndefined()
  max = 6
  await end('b1')
  expect([began, slots.weight()]).toEqual([['a1', 'b1', 'c1', 'd1'], 4])
  await end('c1', 'c1', 'd1')
  expectEmpty(slots, 'a', 'b', 'c', 'd', 'e')
})

it('ends the wait of one whose signal is aborted, with its reason; those behind a heavy one then begin', async () => {
  const slots = createSlots({ max: 2 })
  const leaving = new AbortController()
  const request = (name: string) => (name === 'b1' ? { weight: 2, signal: leaving.signal } : {})
  const { began, refused, end } = await ask(slots, ['a1', 'b1', 'c1'], request)
  expect(began).toEqual(['a1'])
  leaving.abort('left')
  await settled()
  expect([began, refused]).toEqual([['a1', 'c1'], ['left']])
  await end('a1', 'c1')
  // Before it waits; a free slot is given all the same, as nothing has to wait for it.
  const release = slots.tryAcquire('a', 2)!
  await expect(slots.acquire('b', { signal: leaving.signal })).rejects.toBe('left')
  release()
  expectEmpty(slots, 'a', 'b', 'c')
})

it('ends a wait by what it was handed, once, and not after the slot was given', async () => {
  const slots = createSlots({ max: 1 })
  const leaves = new Map<string, () => void>()
  const request = (name: string) => ({ onWait: (leave: () => void) => leaves.set(name, leave) })
  const { began, refused, end } = await ask(slots, ['a1', 'b1', 'c1'], request)
  expect([...leaves.keys()]).toEqual(['b1', 'c1'])
  for (const name of ['b1', 'b1']) leaves.get(name)!()
  await end('a1')
  leaves.get('c1')!()
  expect([began, refused]).toEqual([['a1', 'c1'], [undefined]])
  expect(slots.count('c')).toEqual({ running: 1, waiting: 0 })
  await end('c1')
  expectEmpty(slots, 'a', 'b', 'c')
})

it('keeps reserved places ahead of all lines, for those that may have one and get no other', async () => {
  const slots = createSlots({ max: 1, maxWaiting: 2, reserved: 1 })
  const request = (name: string) => ({ isPrivileged: name >= 'e' })
  const { began, refused, end } = await ask(slots, ['a1', 'b1', 'b2', 'c1', 'd1', 'e1', 'e2'], request)
  expect(refused).toHaveLength(3)
  await end('a1', 'e1', 'b1')
  expect(began).toEqual(['a1', 'e1', 'b1', 'b2'])
})

it('refuses with one error for a key, and another one for all', async () => {
  const refuse = { key: () => new ChatError('rate_limited'), all: () => new ChatError('storage_full') }
  const slots = createSlots({ perKey: 1, maxWaitingPerKey: 1, maxWaiting: 2, refuse })
  for (const key of ['a', 'a', 'b', 'b', 'c']) void slots.acquire(key)
  expect(await codeOf(slots.acquire('a'))).toBe('rate_limited')
  expect(await codeOf(slots.acquire('c'))).toBe('storage_full')
  expect(slots.waitingKeys()).toEqual(['a', 'b'])
})

it('holds its bounds, leaves no slot unused and forgets every key, whatever is asked, given back and given up', async () => {
  const step = fc.record({ key: fc.constantFrom('a', 'b', 'c'), weight: fc.integer({ min: 1, max: 3 }), at: fc.nat(9) })
  const action = fc.oneof(
    { weight: 3, arbitrary: fc.record({ do: fc.constant('acquire'), step }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('release'), step }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('abort'), step }) },
  )
  const options = fc.record({ max: fc.integer({ min: 1, max: 5 }), perKey: fc.nat(2), fewestFirst: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(options, fc.array(action, { maxLength: 40 }), async ({ max, perKey, fewestFirst }, actions) => {
      const slots = createSlots({ max, perKey: perKey + 1, maxWaiting: 6, maxWaitingPerKey: 4, fewestFirst })
      const held: Release[] = []
      const waits: AbortController[] = []
      const check = () => {
        const counts = ['a', 'b', 'c'].map(slots.count)
        const running = counts.reduce((sum, count) => sum + count.running, 0)
        expect(running === 1 || slots.weight() <= max).toBe(true)
        expect(running).toBe(held.length)
        for (const count of counts) expect([count.running <= perKey + 1, count.waiting <= 4]).toEqual([true, true])
        expect(counts.reduce((sum, { waiting }) => sum + waiting, 0)).toBeLessThanOrEqual(6)
        // Nothing waits while nothing runs.
        if (running === 0) expect(slots.waitingKeys()).toEqual([])
      }
      for (const { do: what, step } of actions) {
        if (what === 'release') held.splice(step.at % (held.length + 1), 1)[0]?.()
        if (what === 'abort') waits[step.at % (waits.length + 1)]?.abort()
        if (what === 'acquire') {
          const wait = new AbortController()
          waits.push(wait)
          slots.acquire(step.key, { weight: step.weight, signal: wait.signal }).then(
            (release) => held.push(release),
            () => {},
          )
        }
        await settled()
        check()
      }
      while (held.length > 0) {
        held.pop()!()
        await settled()
        check()
      }
      expectEmpty(slots, 'a', 'b', 'c')
    }),
    { numRuns: 60 },
  )
})

describe('as a mutex for each key', () => {
  it('runs the works of a key one after another, also after one that fails, and those of other keys meanwhile', async () => {
    const inLine = createSlots({ perKey: 1, maxWaitingPerKey: 10 }).run
    const log: string[] = []
    const first = promised()
    const failing = inLine('a', async () => {
      log.push('a1')
      await first.promise
      throw new Error('refused')
    })
    const second = inLine('a', async () => void log.push('a2'))
    await inLine('b', async () => void log.push('b1'))
    expect(log).toEqual(['a1', 'b1'])
    first.resolve()
    await expect(failing).rejects.toThrow('refused')
    await second
    expect(log).toEqual(['a1', 'b1', 'a2'])
  })

  it('refuses a work of a key that has too many, and takes the next one when they have ended', async () => {
    const inLine = createSlots({ perKey: 1, maxWaitingPerKey: 3 }).run
    const end = promised()
    const works = times(4, () => inLine('a', () => end.promise))
    expect(await codeOf(inLine('a', async () => {}))).toBe('unavailable')
    expect(await inLine('b', async () => 'b')).toBe('b')
    end.resolve()
    await Promise.all(works)
    expect(await inLine('a', async () => 'a')).toBe('a')
  })

  it('refuses what would wait beyond the sum, though each key has less than its share, and runs the first work of any key', async () => {
    const inLine = createSlots({ perKey: 1, maxWaitingPerKey: 3, maxWaiting: 5 }).run
    const end = promised()
    // Of each key one runs and two wait: the last one is beyond the sum.
    const works = ['a', 'b', 'c'].flatMap((key) => times(3, () => inLine(key, () => end.promise)))
    expect(await codeOf(works.pop()!)).toBe('unavailable')
    expect(await codeOf(inLine('a', async () => {}))).toBe('unavailable')
    expect(await inLine('d', async () => 'd')).toBe('d')
    end.resolve()
    await Promise.all(works)
    const again = times(4, () => inLine('a', async () => 'a'))
    expect(await Promise.all(again)).toEqual(['a', 'a', 'a', 'a'])
  })
})
