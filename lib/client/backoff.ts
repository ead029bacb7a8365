/** How long a client waits before it reopens a lost stream, unless the service sends a time. */
const USUAL_MS = 2_000

/** The maximum wait, whatever the service sends: a timer beyond 24 days would fire at once. */
const MAX_MS = 60_000

/** The pause between attempts. */
export interface Backoff {
  /** A stream has sent a time (`retry:`). */
  setPause(ms: number): void
  /** A stream is open: earlier failures no longer count. */
  opened(): void
  /** The next pause, twice the previous one until a stream opens. */
  next(atLeastMs?: number): number
}

/** @param fixedMs used instead of the times that streams send */
export function createBackoff(fixedMs?: number): Backoff {
  let pauseMs = USUAL_MS
  let failures = 0
  return {
    setPause(ms) {
      pauseMs = ms
    },
    opened() {
      failures = 0
    },
    next(atLeastMs = 0) {
      const doubled = (fixedMs ?? pauseMs) * 2 ** Math.min(failures++, 16)
      return spread(Math.min(MAX_MS, Math.max(atLeastMs, doubled)))
    },
  }
}

/** Up to half as much longer at random, so that clients that lost their streams together reconnect one by one. */
export function spread(ms: number): number {
  return ms * (1 + Math.random() / 2)
}

/** Resolves after a time, or as soon as it is aborted. */
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
 * @returns `undefined` for any other text
 */
export function parseRetryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined
  const seconds = /^\d+(\.\d+)?$/.test(header) ? Number(header) : Math.max(0, (Date.parse(header) - now) / 1000)
  return Number.isFinite(seconds) ? seconds : undefined
}

/** Whether a short wait may help: the service is not reached, asks to wait, or got the body too slowly. A quota lasts for a day or a month. */
export function isTransient(error: unknown): boolean {
  const { code, quota } = (error ?? {}) as { code?: string; quota?: object }
  return error instanceof TypeError || (!quota && /^(unavailable|rate_limited|request_timeout)$/.test(code!))
}

/** Nothing, for what does not exist any more: for the `catch` of a reading. @throws every other failure */
export function undefinedIfGone(error: unknown): undefined {
  if (!isGone(error)) throw error
}

/** Whether a reading has failed because there is no such thing, or not for this user. */
export function isGone(error: unknown): boolean {
  return (error as { code?: string }).code === 'not_found'
}
