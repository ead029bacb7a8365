/** A value that changes: the two functions that `useSyncExternalStore` and its likes take. */
export interface Readable<T> {
  /** The current value: the same object until it changes. */
  getSnapshot: () => T
  /** The value before anything was read: that of a page that was rendered on the server. */
  getServerSnapshot: () => T
  /** Calls `listener` after each change. @returns a function that ends this */
  subscribe: (listener: () => void) => () => void
}

/** A {@link Readable} that knows whether it has subscribers. */
export interface Watchable<T> extends Readable<T> {
  isWatched(): boolean
}

/** A {@link Watchable} with the function that changes it. */
export interface Cell<T> extends Watchable<T> {
  set(value: T): void
}

/** @param onWatched called when the first listener comes and after the last one has gone */
export function createCell<T>(initial: T, onWatched: (isWatched: boolean) => void = () => {}): Cell<T> {
  let value = initial
  const listeners = new Set<() => void>()
  return {
    getSnapshot: () => value,
    getServerSnapshot: () => initial,
    set(next) {
      if (Object.is(next, value)) return
      value = next
      for (const listener of [...listeners]) listener()
    },
    isWatched: () => listeners.size > 0,
    subscribe(listener) {
      // A listener may be given twice, and each time is a subscription of its own.
      const own = () => listener()
      listeners.add(own)
      if (listeners.size === 1) onWatched(true)
      return () => {
        if (listeners.delete(own) && listeners.size === 0) onWatched(false)
      }
    },
  }
}
