import { ChatError } from '../../core/errors.ts'

/** How long after a refusal the next connection is tried; twice as long after each further one, up to the maximum. */
const FIRST_DELAY_MS = 1_000
const MAX_DELAY_MS = 30_000

/**
 * SQLSTATE classes that are over by themselves, and soon: lost connection, resources, operator, system. A server that
 * starts is used within seconds.
 */
const SOON_OVER = /^(08|53|57|58|XX)/

/** Tries connections to a server that may refuse them. */
export interface Refusals {
  /**
   * Connects, unless the server has refused a connection a moment ago.
   *
   * @throws ChatError `unavailable` with the refusal as its cause
   */
  attempt<T>(connect: () => Promise<T>): Promise<T>
  /** Forgets what was refused: the next connection has other credentials. */
  forget(): void
}

interface Refusal {
  cause: unknown
  delay_ms: number
  retry_at: number
}

/**
 * Connections to a server that refuses them, for example for a wrong password, are tried one at a time, and less and less
 * often: hosted services lock a role after a few attempts, and each attempt is a line of the server's log.
 *
 * @param now the time in milliseconds
 */
export function createRefusals(now: () => number = () => performance.now()): Refusals {
  let refusal: Refusal | undefined
  let isTrying = false

  function assertDue({ cause, retry_at }: Refusal): void {
    const wait_ms = Math.max(retry_at - now(), isTrying ? FIRST_DELAY_MS : 0)
    if (wait_ms > 0)
      throw new ChatError('unavailable', { cause, retry_after_seconds: Math.max(1, Math.ceil(wait_ms / 1000)) })
  }

  function failed(cause: unknown, before: Refusal | undefined): unknown {
    if (!isRefusal(cause)) {
      if (refusal === before) refusal = undefined
      return cause
    }
    // If connections that were opened at the same time are refused, only the first refusal counts.
    if (refusal === before) {
      const delay_ms = before ? Math.min(before.delay_ms * 2, MAX_DELAY_MS) : FIRST_DELAY_MS
      refusal = { cause, delay_ms, retry_at: now() + delay_ms }
    }
    return new ChatError('unavailable', { cause, retry_after_seconds: (refusal?.delay_ms ?? FIRST_DELAY_MS) / 1000 })
  }

  return {
    async attempt(connect) {
      const before = refusal
      if (before) {
        assertDue(before)
        isTrying = true
      }
      try {
        const connection = await connect()
        refusal = undefined
        return connection
      } catch (error) {
        throw failed(error, before)
      } finally {
        if (before) isTrying = false
      }
    },
    forget() {
      refusal = undefined
    },
  }
}

/** Whether the server has answered, and refuses this role, this database, or this host. */
function isRefusal(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown }
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !/^E/.test(code) && !SOON_OVER.test(code)
}
