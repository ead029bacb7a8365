import { expect, it } from 'vitest'
import { repeatIfCalled } from '../../../lib/core/scheduling/once.ts'

/** Work whose runs end by hand. */
function createWork() {
  const runs: PromiseWithResolvers<void>[] = []
  const run = repeatIfCalled(() => {
    const pending = withResolvers()
    runs.push(pending)
    return pending.promise
  })
  return { runs, run }
}

interface PromiseWithResolvers<T> {
  promise: Promise<T>
  resolve: (value: T) => void
  reject: (error: unknown) => void
}

function withResolvers(): PromiseWithResolvers<void> {
  let [resolve, reject] = [() => {}, (_: unknown) => {}]
  const promise = new Promise<void>((done, failed) => {
    resolve = done
    reject = failed
  })
  return { promise, resolve, reject }
}

it('calls during a run repeat the work once, and end with the last run', async () => {
  const { runs, run } = createWork()
  const first = run()
  expect([run(), run()]).toEqual([first, first])
  runs[0]!.resolve()
  await expect.poll(() => runs.length).toBe(2)
  expect(run.current()).toBe(first)
  runs[1]!.resolve()
  await first
  expect([runs.length, run.current()]).toEqual([2, undefined])
})

it('a call right after the last run starts another one', async () => {
  const { runs, run } = createWork()
  const first = run()
  runs[0]!.resolve()
  // In each of the next microtasks a call either repeats the run in progress or starts a new one: none is lost.
  for (let count = 1; count < 6; count++) {
    void run()
    await expect.poll(() => runs.length).toBe(count + 1)
    runs[count]!.resolve()
    for (let ticks = 0; ticks < count; ticks++) await null
  }
  await first
})

it('a failure ends the run for all calls that wait, and the next call begins anew', async () => {
  const { runs, run } = createWork()
  const calls = [run(), run()]
  runs[0]!.reject(new Error('no disk'))
  for (const call of calls) await expect(call).rejects.toThrow('no disk')
  const next = run()
  expect(runs.length).toBe(2)
  runs[1]!.resolve()
  await next
})
