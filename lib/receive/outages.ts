import { spread } from '../client/backoff.ts'

/** The first pause; each next one is twice as long. */
const FIRST_MS = 250

const MAX_MS = 30_000

/** PostgreSQL: connection, resources, shutdown, rolled back for others. Node: the network. SQLite: another writer. */
const OUTAGE_CODE =
  /^(08...|53...|57P0.|40001|40P01|25P0[34]|ECONN[A-Z]+|EPIPE|E[A-Z]*TIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|SQLITE_BUSY.*)$/

/** Failures of `pg` itself, which have no code. */
const OUTAGE_TEXT =
  /^(Connection terminated|Client has encountered a connection error|timeout exceeded|Query read timeout|Client was closed)/

/** Codes of the service for which waiting helps. */
const FOR_NOW = /^(unavailable|rate_limited|request_timeout|too_many_streams|internal)$/

/** Whether a failure of the database passes by itself; what an effect throws does not. */
export function isOutage(error: unknown): boolean {
  const { code, message, syscall } = (error ?? {}) as { code?: unknown; message?: unknown; syscall?: unknown }
  // The socket of a PostgreSQL that is not there, not a file of the effect.
  const hasNoSocket = code === 'ENOENT' && syscall === 'connect'
  return hasNoSocket || OUTAGE_CODE.test(String(code)) || OUTAGE_TEXT.test(String(message))
}

/** Whether the service may answer later: it is not reached, or asks to wait. `fetch` throws a `TypeError` then. */
export function isRefusedForNow(error: unknown): boolean {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown }
  return error instanceof TypeError || name === 'TimeoutError' || FOR_NOW.test(String(code)) || isOutage(error)
}

/** The time until the next attempt, or as long as the service asks for. */
export function retryPause(error: unknown, failures: number): number {
  const asked = Number((error as { retry_after_seconds?: number } | undefined)?.retry_after_seconds) || 0
  return spread(Math.min(MAX_MS, Math.max(asked * 1000, FIRST_MS * 2 ** Math.min(failures, 16))))
}

/** Calls with a signal that ends with another one, or after a time. The failure is then called `TimeoutError`. */
export async function withDeadline<T>(
  ms: number,
  signal: AbortSignal | undefined,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ending = new AbortController()
  const abort = () => ending.abort(signal?.reason)
  const timer = setTimeout(() => ending.abort(new DOMException('The call took too long', 'TimeoutError')), ms)
  signal?.addEventListener('abort', abort)
  try {
    return await call(ending.signal)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}
