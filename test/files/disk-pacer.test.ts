import { expect, it } from 'vitest'
import { createDiskPacer } from '../../lib/files/disk-pacer.ts'
import { withResolvers } from '../support/with-resolvers.ts'

const OPEN = new AbortController().signal

/** A write that ends when it is told to. */
function held(log: string[], name: string) {
  const { promise, resolve } = withResolvers()
  const write = async () => {
    log.push(`${name} begins`)
    await promise
    log.push(`${name} ends`)
  }
  return { write, end: resolve }
}

/** Lets everything run that waits for nothing but promises. */
const flushed = () => new Promise((resolve) => setImmediate(resolve))

it('runs writes one after another, in the order of the calls, also after one that failed', async () => {
  const turns = createDiskPacer(() => 0)
  const log: string[] = []
  const [first, second] = [held(log, 'first'), held(log, 'second')]
  const failed = turns.run(() => Promise.reject(new Error('full')), OPEN)
  const all = [turns.run(first.write, OPEN), turns.run(second.write, OPEN)]
  await expect(failed).rejects.toThrow('full')
  second.end()
  first.end()
  await Promise.all(all)
  expect(log).toEqual(['first begins', 'first ends', 'second begins', 'second ends'])
})

it('pauses four times as long as a write during which many calls were answered, and not after another one', async () => {
  let answered = 0
  const turns = createDiskPacer(() => answered)
  const began = performance.now()
  let ended = 0
  await turns.run(async () => {
    while (performance.now() - began < 20);
    answered += 10
    ended = performance.now()
  }, OPEN)
  const second = await turns.run(async () => performance.now(), OPEN)
  expect(second - ended).toBeGreaterThanOrEqual(4 * 20)
  // Nothing was answered since: the third is written as soon as its turn comes, before any timer.
  const order: string[] = []
  const timer = new Promise<void>((resolve) => setTimeout(() => resolve(void order.push('timer')), 0))
  await turns.run(async () => order.push('third'), OPEN)
  await timer
  expect(order).toEqual(['third', 'timer'])
})

it('runs three writes at once after four without another call, and one at a time again after such a call', async () => {
  let answered = 0
  const turns = createDiskPacer(() => answered)
  for (let n = 0; n < 4; n++) await turns.run(async () => {}, OPEN)
  const log: string[] = []
  const writes = ['a', 'b', 'c', 'd'].map((name) => held(log, name))
  const all = writes.map(({ write }) => turns.run(write, OPEN))
  await flushed()
  expect(log).toEqual(['a begins', 'b begins', 'c begins'])
  writes[1]!.end()
  await all[1]
  await flushed()
  expect(log.slice(3)).toEqual(['b ends', 'd begins'])

  answered++
  const [next, last] = [held(log, 'next'), held(log, 'last')]
  const more = [next, last].map(({ write }) => turns.run(write, OPEN))
  for (const n of [0, 2, 3]) writes[n]!.end()
  await Promise.all(all)
  await expect.poll(() => log.at(-1)).toBe('next begins')
  next.end()
  last.end()
  await Promise.all(more)
  expect(log.slice(-4)).toEqual(['next begins', 'next ends', 'last begins', 'last ends'])
})

it('ends the wait of a write whose store is closed', async () => {
  let answered = 0
  const turns = createDiskPacer(() => answered)
  const closing = new AbortController()
  const began = performance.now()
  await turns.run(async () => {
    while (performance.now() - began < 50);
    answered += 10
  }, closing.signal)
  const waiting = turns.run(async () => 'written', closing.signal)
  closing.abort()
  await expect(waiting).rejects.toThrow()
})
