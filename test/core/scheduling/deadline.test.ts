import { expect, it } from 'vitest'
import { retry, withDeadline } from '../../../lib/core/scheduling/deadline.ts'

it('returns the result that arrives in time', async () => {
  expect(await withDeadline(Promise.resolve('done'), 60_000, 'late')).toBe('done')
})

it('fails as the work does', async () => {
  await expect(withDeadline(Promise.reject(new Error('lost')), 60_000, 'late')).rejects.toThrow('lost')
})

it('returns the other value once the time is over', async () => {
  expect(await withDeadline(new Promise(() => {}), 8, 'late')).toBe('late')
})

it('returns the other value as soon as its signal aborts, also before the call', async () => {
  const abort = new AbortController()
  const waits = withDeadline(new Promise(() => {}), 60_000, 'late', abort.signal)
  abort.abort()
  expect(await waits).toBe('late')
  expect(await withDeadline(new Promise(() => {}), 60_000, 'late', abort.signal)).toBe('late')
})

it('does not count the time for which the event loop was busy', async () => {
  const begin = performance.now()
  const busy = new Promise((resolve) => {
    setImmediate(() => {
      while (performance.now() - begin < 100);
      setImmediate(() => setImmediate(resolve, 'done'))
    })
  })
  expect(await withDeadline(busy, 40, 'late')).toBe('done')
})

const passing = { pause_ms: 1, mayPass: (error: unknown) => (error as Error).message === 'busy' }

it('runs a step again while it fails in a way that may pass', async () => {
  let runs = 0
  const step = () => {
    if (++runs < 3) throw new Error('busy')
    return runs
  }
  expect(await retry(step, { ms: 60_000, ...passing })).toBe(3)
})

it.each([
  ['in another way', 'broken', 60_000],
  ['when the time is over', 'busy', 0],
])('does not run a step again that fails %s', async (_, message, ms) => {
  let runs = 0
  const step = () => {
    runs++
    return Promise.reject(new Error(message))
  }
  await expect(retry(step, { ms, ...passing })).rejects.toThrow(message)
  expect(runs).toBe(1)
})
