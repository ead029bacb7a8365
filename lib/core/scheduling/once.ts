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

/**
 * Makes a call of `work` during a run repeat it, once for all such calls: whatever changed before a call, a whole run
 * follows. A call ends with the last of these runs.
 *
 * @param work calls this only after its first `await`; its failure ends the run for all calls that wait for it
 * @param begin is awaited before the first run: calls until then do not repeat it
 * @param end is called after the last run, also after a failure: the next call starts anew
 */
export function repeatIfCalled(
  work: () => Promise<void>,
  begin?: () => Promise<void>,
  end?: () => void,
): SingleFlight<void> {
  let isCalled = false
  let current: Promise<void> | undefined

  async function runAll(): Promise<void> {
    try {
      if (begin) await begin()
      while (isCalled) {
        isCalled = false
        await work()
      }
    } finally {
      // Nothing is awaited after the last check of `isCalled`: a call in between would join a run that has ended.
      current = undefined
      end?.()
    }
  }

  const run = () => {
    isCalled = true
    current ??= runAll()
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
