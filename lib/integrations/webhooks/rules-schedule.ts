import { DAY, HOUR, MINUTE, SECOND } from '../../core/units.ts'
import type { Micros } from '../../storage/sql.ts'

/** How long after the attempt before it each attempt is made. */
const PAUSES: readonly number[] = [
  0,
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
]

/** How much earlier or later an attempt may be made, so that those that failed together do not come together again. */
const SPREAD = 0.2

/** A webhook without a success for so long is disabled. */
const MAX_FAILING = 5 * DAY

/** How far apart those are that are sent again early, after a receiver has come back. */
const EARLY_PAUSE = 5 * SECOND

/** How many attempts of an event are kept. */
const MAX_ATTEMPTS = 20

/** The successes in a row after which more calls are made at a time. */
const STEADY = 20

/** An attempt, as it is stored. */
export interface StoredAttempt {
  /** When it began. */
  at: Micros
  ms: number
  status?: number
  error?: string
  /** Made before its time, as the receiver had come back: it does not count. */
  early?: true
}

/** What an event is after its attempts. */
export interface DeliveryState {
  status: 'pending' | 'delivered' | 'dead'
  attempts: StoredAttempt[]
  /** How many of them count. */
  attempt_count: number
  /** When the next attempt is due, while it is pending. */
  next_at: Micros | null
}

/** An event that was not sent yet. */
export const UNSENT: DeliveryState = { status: 'pending', attempts: [], attempt_count: 0, next_at: null }

/**
 * What an event is after another attempt.
 *
 * @param random from 0 to 1
 */
export function afterAttempt(before: DeliveryState, attempt: StoredAttempt, random: number): DeliveryState {
  const last = before.attempts.findLast(({ early }) => !early)
  const isEarly = last !== undefined && attempt.at < earliest(last.at, before.attempt_count)
  const attempts = bounded([...before.attempts, isEarly ? { ...attempt, early: true as const } : attempt])
  const attempt_count = before.attempt_count + (isEarly ? 0 : 1)
  if (attempt.error === undefined) return { status: 'delivered', attempts, attempt_count, next_at: null }
  const pause = PAUSES[attempt_count]
  if (pause === undefined) return { status: 'dead', attempts, attempt_count, next_at: null }
  const from = isEarly ? last.at : attempt.at
  const next_at = Math.max(from + Math.round(pause * (1 + SPREAD * (2 * random - 1))), attempt.at)
  return { status: 'pending', attempts, attempt_count, next_at }
}

/** An event that is sent again with all its attempts, because its owner asks for it. */
export function toReplayed({ attempts }: DeliveryState, now: Micros): DeliveryState {
  const kept = attempts.slice(-(MAX_ATTEMPTS - PAUSES.length))
  return { status: 'pending', attempts: kept, attempt_count: 0, next_at: now }
}

/** Without the first of those that do not count, if there are too many. */
function bounded(attempts: StoredAttempt[]): StoredAttempt[] {
  const first = attempts.findIndex(({ early }) => early)
  return attempts.length > MAX_ATTEMPTS ? attempts.filter((_attempt, n) => n !== first) : attempts
}

/** The first moment at which the attempt after so many others is in time. */
function earliest(last: Micros, count: number): Micros {
  return last + (PAUSES[count] ?? 0) * (1 - SPREAD)
}

/** When the n-th of the events is sent again that a receiver has missed while it was away. */
export function earlyAt(now: Micros, n: number): Micros {
  return now + n * EARLY_PAUSE
}

/** Whether an event failed as the receiver was away, and not for what it is. */
export function wasAway({ error, status = 0 }: Pick<StoredAttempt, 'error' | 'status'>): boolean {
  return error === 'connect' || error === 'tls' || error === 'timeout' || (error === 'status' && status >= 500)
}

/** How many calls of a webhook are made at a time. */
export interface Pace {
  limit: number
  /** In a row, since the limit was changed. */
  successes: number
}

/** The pace after an attempt: halved when the receiver has too much, doubled when it was well for a while. */
export function paceAfter(
  { limit, successes }: Pace,
  { status, error }: Pick<StoredAttempt, 'error' | 'status'>,
  parallel: number,
): Pace {
  if (error === undefined && successes + 1 < STEADY) return { limit, successes: successes + 1 }
  if (error === undefined) return { limit: Math.min(parallel, limit * 2), successes: 0 }
  const hasTooMuch = status === 429 || (status !== undefined && status >= 502 && status <= 504)
  return { limit: hasTooMuch ? Math.max(1, Math.floor(limit / 2)) : limit, successes: 0 }
}

/** Whether a webhook that has failed since an instant is disabled. */
export function hasFailedTooLong(failing_since: Micros | null, now: Micros): boolean {
  return failing_since !== null && now - failing_since >= MAX_FAILING
}
