import { expect, it } from 'vitest'
import { createThrottle } from '../../../lib/core/scheduling/throttle.ts'

it('asks during a run get one more run together, which waits for the pause', async () => {
  const starts: number[] = []
  const throttle = createThrottle(50, async () => {
    starts.push(performance.now())
    await null
    if (starts.length === 1) for (let n = 0; n < 3; n++) throttle.ask()
  })
  throttle.ask()
  await expect.poll(() => starts.length).toBe(2)
  // A timer may fire up to a millisecond early.
  expect(starts[1]! - starts[0]!).toBeGreaterThan(48)
  await throttle.close()
  expect(starts.length).toBe(2)
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
