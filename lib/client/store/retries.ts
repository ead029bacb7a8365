import { isTransient } from '../backoff.ts'

/** When a post that was not answered is sent again by itself, after each attempt. */
const PAUSES_MS = [1_000, 4_000, 15_000]

/** Posts that are sent again: after pauses, and when the page is online again. */
export interface Retries {
  /** A post has failed. It is sent again if that may help. */
  failed(key: string, error: unknown): void
  /** A post is stored, discarded or refused. */
  end(key: string): void
  /** Sends all of them now, and begins anew with the pauses. */
  resume(): void
  clear(): void
}

/** @param send sends a post again */
export function createRetries(send: (key: string) => void): Retries {
  const waiting = new Map<string, { count: number; timer?: ReturnType<typeof setTimeout> }>()

  function end(key: string): void {
    clearTimeout(waiting.get(key)?.timer)
    if (waiting.delete(key) && waiting.size === 0) globalThis.removeEventListener?.('online', resume)
  }

  function resume(): void {
    for (const [key, { timer }] of [...waiting]) {
      clearTimeout(timer)
      waiting.set(key, { count: 0 })
      send(key)
    }
  }

  return {
    failed(key, error) {
      if (!isTransient(error)) return end(key)
      if (waiting.size === 0) globalThis.addEventListener?.('online', resume)
      const { count } = waiting.get(key) ?? { count: 0 }
      const ms = Math.max(
        PAUSES_MS[count] ?? 0,
        ((error as { retry_after_seconds?: number }).retry_after_seconds ?? 0) * 1000,
      )
      const timer = count < PAUSES_MS.length && setTimeout(send, ms, key)
      waiting.set(key, { count: count + 1, ...(timer && { timer }) })
    },
    end,
    resume,
    clear() {
      for (const key of [...waiting.keys()]) end(key)
    },
  }
}
