/** A timer that is set or not. */
export interface Timer {
  /** Calls in `ms`, unless the timer is set: then it stays as it was. */
  set(ms: number): void
  isSet(): boolean
  cancel(): void
}

type Timeout = ReturnType<typeof setTimeout>

/**
 * Calls `fire` after the time that was set first.
 *
 * @param start begins to wait: in Node.js it may return a timer that does not keep the process alive
 */
export function createTimer(fire: () => void, start: (run: () => void, ms: number) => Timeout = setTimeout): Timer {
  let timer: Timeout | undefined

  return {
    set(ms) {
      timer ??= start(() => {
        timer = undefined
        fire()
      }, ms)
    },
    isSet: () => timer !== undefined,
    cancel() {
      clearTimeout(timer)
      timer = undefined
    },
  }
}
