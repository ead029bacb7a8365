import { setTimeout as sleep } from 'node:timers/promises'

/** A deadline is counted in ticks. A busy event loop misses ticks, in which no result could have arrived either. */
const STEPS = 8

/** The result of `work`, or `late` when there is none within `ms` or before `signal` aborts. The work continues. */
export function withDeadline<T, const Late>(
  work: Promise<T>,
  ms: number,
  late: Late,
  signal?: AbortSignal,
): Promise<T | Late> {
  return new Promise((resolve, reject) => {
    let left = STEPS
    const timer = setInterval(() => {
      if (--left === 0) giveUp()
    }, ms / STEPS)
    const stop = () => {
      clearInterval(timer)
      signal?.removeEventListener('abort', giveUp)
    }
    const giveUp = () => {
      stop()
      resolve(late)
    }
    signal?.addEventListener('abort', giveUp)
    if (signal?.aborted) giveUp()
    work.then(resolve, reject).finally(stop)
  })
}

/**
 * Retries `step` while its failure may be temporary.
 *
 * @param options.ms after which the failure is final
 * @param options.pause_ms between two runs
 * @throws the last error of `step`
 */
export async function retry<T>(
  step: () => T | Promise<T>,
  options: { ms: number; pause_ms: number; mayPass: (error: unknown) => boolean },
): Promise<T> {
  const deadline = performance.now() + options.ms
  for (;;) {
    try {
      return await step()
    } catch (error) {
      if (!options.mayPass(error) || performance.now() >= deadline) throw error
    }
    await sleep(options.pause_ms)
  }
}
