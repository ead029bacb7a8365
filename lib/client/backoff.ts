/** How long a client waits before it opens a lost stream again, unless the service says how long. */
const USUAL_MS = 2_000

/** The longest wait, whatever the service says: a timer beyond 24 days would end at once. */
const LONGEST_MS = 60_000

/** How long to wait from one attempt to the next. */
export interface Backoff {
  /** A stream has said how long (`retry:`). */
  told(ms: number): void
  /** A stream is open: what failed before it counts no more. */
  opened(): void
  /** The next pause, twice the one before as long as no stream opens. */
  next(atLeastMs?: number): number
}

/** @param fixedMs instead of what streams say */
export function createBackoff(fixedMs?: number): Backoff {
  let told = USUAL_MS
  let failures = 0
  return {
    told(ms) {
      told = ms
    },
    opened() {
      failures = 0
    },
    next(atLeastMs = 0) {
      const doubled = (fixedMs ?? told) * 2 ** Math.min(failures++, 16)
      return spread(Math.min(LONGEST_MS, Math.max(atLeastMs, doubled)))
    },
  }
}

/** Up to half as much longer: clients that lost their streams together come back one by one. */
export function spread(ms: number): number {
  return ms * (1 + Math.random() / 2)
}

/** Resolves after a while, or as soon as it is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const timer = setTimeout(done, ms)
    function done() {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    signal?.addEventListener('abort', done)
  })
}

/**
 * The seconds of a `Retry-After`, which proxies also write as a date (RFC 9110, 10.2.3).
 *
 * @returns nothing for what is neither
 */
export function retryAfterOf(header: string | null, now: number): number | undefined {
  if (header === null) return undefined
  const seconds = /^\d+(\.\d+)?$/.test(header) ? Number(header) : Math.max(0, (Date.parse(header) - now) / 1000)
  return Number.isFinite(seconds) ? seconds : undefined
}
