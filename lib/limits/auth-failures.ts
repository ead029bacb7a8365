import type { Config } from '../config/parse.ts'
import { ChatError } from '../core/errors.ts'
import { createRecent } from '../core/recent.ts'
import { SECOND } from '../core/units.ts'
import type { Micros } from '../storage/sql.ts'
import { createLocalBuckets } from './buckets.ts'
import { type Rate, toNetwork } from './rules.ts'

/** A call that needs authentication. */
export interface AuthAttempt {
  ip?: string | undefined
  /** The digest of its session token or API key. */
  credential?: string | undefined
}

/** Counts failed authentication by network: guessed or outdated tokens cost a limited number of look-ups. */
export interface AuthFailures {
  /**
   * Refuses a call of a network with too many failures, before its credential is looked up. A credential that was valid
   * the last time is let through: others behind the same address do not lock its owner out.
   *
   * @throws ChatError `rate_limited`
   */
  check(attempt: AuthAttempt): void
  /** Counts a call that failed with 401. */
  failed(attempt: Pick<AuthAttempt, 'ip'>): void
  /** Remembers a valid credential. */
  remember(attempt: AuthAttempt): void
  /** Removes a credential that is no longer valid. */
  forget(attempt: AuthAttempt): void
}

/** The maximum number of networks, a few dozen bytes each; beyond it, the least recently used are dropped. */
const MAX_NETWORKS = 100_000

/** The maximum number of credentials that were valid the last time, as digests: about two megabytes. */
const MAX_GOOD_CREDENTIALS = 10_000

/** This process's part of the failures of a network: the workers of a service together permit what one process would. */
export function maxAuthFailures({ rate_limits, cluster: { workers } }: Config): number {
  return Math.ceil(rate_limits.auth_failures_per_ip_per_min / workers)
}

/**
 * Creates the counters of one process, in memory: it writes nothing.
 *
 * @param perMinute the number of failures of a network, which may change
 */
export function createAuthFailures(perMinute: () => number, now: () => Micros): AuthFailures {
  const rate = (): Rate => ({ requests_per_second: perMinute() / 60, burst: perMinute() })
  let networks = createLocalBuckets(MAX_NETWORKS)
  let latest = 0
  let counted_by = perMinute()
  const good = createRecent(MAX_GOOD_CREDENTIALS)

  /**
   * After a clock has stepped back the count restarts, so that no network is refused until the clock has caught up; and under
   * another rate, where the old count would have another meaning.
   */
  function instant(): Micros {
    const at = now()
    const current = perMinute()
    if (at < latest - SECOND || current !== counted_by) networks = createLocalBuckets(MAX_NETWORKS)
    counted_by = current
    latest = at
    return at
  }

  return {
    check({ ip = '', credential }) {
      const at = instant()
      const { allowed, retry_after_seconds = 1 } = networks.peek(toNetwork(ip), at, rate())
      if (allowed || (credential !== undefined && good.has(credential))) return
      throw new ChatError('rate_limited', { retry_after_seconds })
    },
    failed({ ip = '' }) {
      const at = instant()
      networks.take(toNetwork(ip), at, rate())
    },
    forget({ credential }) {
      if (credential !== undefined) good.delete(credential)
    },
    remember({ credential }) {
      if (credential !== undefined) good.add(credential)
    },
  }
}
