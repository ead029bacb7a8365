import { expect, it } from 'vitest'
import { createWorkers } from '../../../lib/core/scheduling/workers.ts'

/** Two workers on `items`, whose work ends by hand. */
function startWorkers(items: string[]) {
  const working: (() => void)[] = []
  let idleTimes = 0
  const workers = createWorkers({
    concurrency: 2,
    next: () => items.shift(),
    work: () => new Promise((resolve) => working.push(resolve)),
    onIdle: () => {
      idleTimes++
    },
  })
  return { workers, working, idleTimes: () => idleTimes }
}

it('no more items than workers are worked on at the same time, and the others follow', async () => {
  const items = ['a', 'b', 'c', 'd']
  const { workers, working } = startWorkers(items)
  for (let n = 0; n < 4; n++) workers.wake()
  expect([working.length, items]).toEqual([2, ['c', 'd']])
  working[0]!()
  await expect.poll(() => items).toEqual(['d'])
  expect(working.length).toBe(3)
})

it('is idle when the last worker has ended', async () => {
  const { workers, working, idleTimes } = startWorkers(['a', 'b'])
  await workers.idle()
  workers.wake()
  workers.wake()
  let isIdle = false
  const idle = workers.idle().then(() => {
    isIdle = true
  })
  working[0]!()
  for (let ticks = 0; ticks < 10; ticks++) await null
  expect([isIdle, idleTimes()]).toEqual([false, 0])
  working[1]!()
  await idle
  expect(idleTimes()).toBe(1)
})
