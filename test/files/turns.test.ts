import { expect, it } from 'vitest'
import { createTurns } from '../../lib/files/turns.ts'
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

it('runs writes one after another, in the order of the calls, also after one that failed', async () => {
  const turns = createTurns(() => 0)
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
  const turns = createTurns(() => answered)
  const began = performance.now()
  let ended = 0
  await turns.run(async () => {
    while (performance.now() - began < 20);
    answered += 10
    ended = performance.now()
  }, OPEN)
  const second = await turns.run(async () => performance.now(), OPEN)
  expect(second - ended).toBeGreaterThanOrEqual(4 * 20 - 2)
  // Nothing was answered since: the third is written as soon as its turn comes, before any timer.
  const order: string[] = []
  const timer = new Promise<void>((resolve) => setTimeout(() => resolve(void order.push('timer')), 0))
  await turns.run(async () => order.push('third'), OPEN)
  await timer
  expect(order).toEqual(['third', 'timer'])
})

it('ends the wait of a write whose store is closed', async () => {
  let answered = 0
  const turns = createTurns(() => answered)
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
