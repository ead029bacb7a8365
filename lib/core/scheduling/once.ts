/** Work with at most one run at a time: a call starts a run, or joins the one in progress. */
export interface SingleFlight<T> {
  (): Promise<T>
  /** The run in progress, if any. */
  current(): Promise<T> | undefined
}

/** Makes calls of `work` during a run share that run. */
export function singleFlight<T>(work: () => Promise<T>): SingleFlight<T> {
  let current: Promise<T> | undefined
  const end = () => {
    current = undefined
  }
  const run = () => {
    current ??= work().finally(end)
    return current
  }
  return Object.assign(run, { current: () => current })
}

/** A warning that is reported once until `reset`. */
export interface WarnOnce<Args extends unknown[]> {
  (...args: Args): void
  /** The next call reports again. */
  reset(): void
  /** Whether it was called since the last `reset`. */
  isReported(): boolean
}

/** Calls `report` for the first of several failures in a row: one line in the log, however long they continue. */
export function warnOnce<Args extends unknown[]>(report: (...args: Args) => void): WarnOnce<Args> {
  let isReported = false
  const warn = (...args: Args) => {
    if (isReported) return
    isReported = true
    report(...args)
  }
  const reset = () => {
    isReported = false
  }
  return Object.assign(warn, { reset, isReported: () => isReported })
}
