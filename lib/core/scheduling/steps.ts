import { setImmediate as turn } from 'node:timers/promises'

/** Work that takes long for a long text: at each `yield`, others may have a turn of the event loop. */
export type Steps<Result> = Generator<void, Result, void>

/**
 * Makes a function that does such work, one piece of it after another: whenever `ms` are over, others get a turn of the
 * event loop.
 */
export function createStepRunner(ms: number): <Result>(steps: Steps<Result>) => Promise<Result> {
  let began = performance.now()
  return async (steps) => {
    for (;;) {
      const { done, value } = steps.next()
      if (performance.now() - began >= ms) {
        await turn()
        began = performance.now()
      }
      if (done) return value
    }
  }
}
