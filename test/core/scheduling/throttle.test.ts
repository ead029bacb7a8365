import { expect, it } from 'vitest'
import { createThrottle } from '../../../lib/core/scheduling/throttle.ts'

it('asks during a run get one more run together, which waits for the pause', async () => {
  const order: string[] = []
  const throttle = createThrottle(50, async () => {
    order.push('run')
    await null
    if (order.length === 1) for (let n = 0; n < 3; n++) throttle.ask()
  })
  // Timers end in the order of their time, however late: a clock would measure what else the machine does, too.
  setTimeout(() => order.push('49 ms'), 49)
  throttle.ask()
  await expect.poll(() => order.length).toBe(3)
  await throttle.close()
  expect(order).toEqual(['run', '49 ms', 'run'])
})

it('closing ends the pause, and nothing runs after it', async () => {
  let runs = 0
  const throttle = createThrottle(2 ** 30, async () => {
    runs++
  })
  throttle.ask()
  throttle.ask()
  await throttle.close()
  throttle.ask()
  expect(runs).toBe(1)
})
