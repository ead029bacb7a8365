/** A deadline is waited for in steps. A busy event loop misses some of them, in which no result could have arrived either. */
const STEPS = 8

/** The result of `work`, or `late` when there is none within `ms`. The work goes on. */
export function withDeadline<T, const Late>(work: Promise<T>, ms: number, late: Late): Promise<T | Late> {
  return new Promise((resolve, reject) => {
    let left = STEPS
    const timer = setInterval(() => {
      if (--left > 0) return
      clearInterval(timer)
      resolve(late)
    }, ms / STEPS)
    work.then(resolve, reject).finally(() => clearInterval(timer))
  })
}
