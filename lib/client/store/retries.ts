import { isTransient } from '../backoff.ts'

/** When a post that was not answered is sent again by itself, after each attempt. */
const PAUSES_MS = [1_000, 4_000, 15_000]

/** Then each minute: of a service that was too busy for it, the stream may have stayed open, and nothing else would send it. */
const LATER_MS = 60_000

/** Posts that are sent again: after pauses, and when the page is online again. */
export interface Retries {
  /** A post has failed. It is sent again if that may help. */
  failed(key: string, error: unknown): void
  /** A post is stored, discarded or refused. */
  end(key: string): void
  /** Sends all of them now, and begins anew with the pauses. */
  resume(): void
  /** Sends none until `resume`. */
  stop(): void
  /** Forgets all of them. */
  clear(): void
}

/** @param send sends a post again */
export function createRetries(send: (key: string) => void): Retries {
  const waiting = new Map<string, { count: number; timer?: ReturnType<typeof setTimeout> | undefined }>()
  let isStopped = false

  function listen(isOn: boolean): void {
    if (isOn) globalThis.addEventListener?.('online', resume)
    else globalThis.removeEventListener?.('online', resume)
  }

  function end(key: string): void {
    clearTimeout(waiting.get(key)?.timer)
    if (waiting.delete(key) && waiting.size === 0) listen(false)
  }

  function resume(): void {
    isStopped = false
    for (const [key, { timer }] of [...waiting]) {
      clearTimeout(timer)
      waiting.set(key, { count: 0 })
      send(key)
    }
  }

  return {
    failed(key, error) {
      if (!isTransient(error)) return end(key)
      const { count } = waiting.get(key) ?? { count: 0 }
      if (isStopped) return void waiting.set(key, { count })
      // Added once, however often.
      listen(true)
      const asked_ms = ((error as { retry_after_seconds?: number }).retry_after_seconds ?? 0) * 1000
      const pause_ms = Math.max(PAUSES_MS[count] ?? LATER_MS, asked_ms)
      waiting.set(key, { count: count + 1, timer: setTimeout(send, pause_ms, key) })
    },
    end,
    resume,
    stop() {
      isStopped = true
      listen(false)
      for (const { timer } of waiting.values()) clearTimeout(timer)
    },
    clear() {
      for (const key of [...waiting.keys()]) end(key)
    },
  }
}
