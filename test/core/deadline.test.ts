import { expect, it } from 'vitest'
import { withDeadline } from '../../lib/core/deadline.ts'

it('returns the result that arrives in time', async () => {
  expect(await withDeadline(Promise.resolve('done'), 60_000, 'late')).toBe('done')
})

it('fails as the work does', async () => {
  await expect(withDeadline(Promise.reject(new Error('lost')), 60_000, 'late')).rejects.toThrow('lost')
})

it('returns the other value once the time is over', async () => {
  expect(await withDeadline(new Promise(() => {}), 8, 'late')).toBe('late')
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
