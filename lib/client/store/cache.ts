import type { Watchable } from './cell.ts'

/** Parts without subscribers that are kept. */
const MAX_UNWATCHED = 100

/** Parts of the store by their id, made when they are first requested. */
export interface Cache<T> {
  get: (id: string) => T
  /** Without making it. */
  peek(id: string): T | undefined
  all(): T[]
  /** Forgets what those without subscribers have read. */
  clear(): void
}

/** @param make creates a part; it does nothing until it has a subscriber */
export function createCache<T extends Watchable<unknown> & { reset?: () => void }>(make: (id: string) => T): Cache<T> {
  const parts = new Map<string, T>()

  /** Forgets those that were used first. */
  function prune(): void {
    for (const [id, part] of parts) if (parts.size > MAX_UNWATCHED && !part.isWatched()) parts.delete(id)
  }

  return {
    get(id) {
      const part = parts.get(id) ?? make(id)
      // Last, as the one that was used last.
      parts.delete(id)
      parts.set(id, part)
      prune()
      return part
    },
    peek: (id) => parts.get(id),
    all: () => [...parts.values()],
    clear() {
      for (const part of parts.values()) if (!part.isWatched()) part.reset?.()
    },
  }
}
