import { SECOND } from '../core/units.ts'

/** A rate: `burst` requests at once from rest, then this many a second. */
export interface Rate {
  requests_per_second: number
  burst: number
}

/** The result of a limit for one request. */
export interface Decision {
  allowed: boolean
  /** The theoretical arrival time afterwards, in microseconds: the stored state of a bucket. */
  tat: number
  limit: number
  /** How many more requests would be allowed at once. */
  remaining: number
  /** When the whole burst is available again. */
  reset_seconds: number
  /** For a refused request: the whole number of seconds after which it is allowed, and not a second earlier. */
  retry_after_seconds?: number
}

/** How far the clocks of two processes may differ. An instant further ahead was written before a clock stepped back. */
export const CLOCK_SKEW = 60 * SECOND

/** The parameters of a rate at an instant, in whole microseconds. */
export interface Window {
  /** The time one request uses. */
  interval: number
  /** The latest arrival time at which a request is allowed. */
  last: number
  /** A later arrival time cannot come from this rate and this clock. */
  absurd: number
}

/** The longest time a bucket takes to refill: longer is a ban, not a rate. */
const MAX_REFILL = 366 * 24 * 60 * 60 * SECOND

/** The time one request uses, and how many are allowed at once, within {@link MAX_REFILL}. */
function shapeOf({ requests_per_second, burst }: Rate): { interval: number; limit: number } {
  const interval = Math.min(MAX_REFILL, Math.max(1, Math.round(SECOND / requests_per_second)))
  return { interval, limit: Math.min(burst, Math.max(1, Math.floor(MAX_REFILL / interval))) }
}

/**
 * The values that GCRA compares arrival times with.
 *
 * @param skew how far the clocks of those that write the bucket may differ: 0 for a bucket of one process
 */
export function windowAt(now: number, rate: Rate, skew: number): Window {
  const { interval, limit } = shapeOf(rate)
  const last = now + (limit - 1) * interval
  return { interval, last, absurd: last + interval + skew }
}

/**
 * GCRA, the generic cell rate algorithm (ITU-T I.371): a leaky bucket that stores one number, the instant at which all
 * requests so far would be finished if they came one by one at the rate.
 *
 * After a clock has stepped back, that instant may be further ahead than this rate allows. It is then reduced to the
 * latest possible one, so that no caller waits for the clock to catch up.
 *
 * @param tat the stored state of the bucket; `undefined` for an unused one
 * @param skew {@link CLOCK_SKEW} for a bucket that several processes write
 */
export function spend(tat: number | undefined, now: number, rate: Rate, skew = 0): Decision {
  const { interval, last, absurd } = windowAt(now, rate, skew)
  const from = tat === undefined || tat < now ? now : tat > absurd ? last : tat
  const allowed = from <= last
  return toDecision(allowed, allowed ? from + interval : from, now, rate)
}

/** The result for a counted request, from the arrival time afterwards. */
export function toDecision(allowed: boolean, tat: number, now: number, rate: Rate): Decision {
  const { interval, last } = windowAt(now, rate, 0)
  const { limit } = shapeOf(rate)
  const reset_seconds = Math.max(0, Math.ceil((tat - now) / SECOND))
  if (allowed) return { allowed, tat, limit, remaining: Math.floor((last + interval - tat) / interval), reset_seconds }
  const retry_after_seconds = Math.max(1, Math.ceil((tat - last) / SECOND))
  return { allowed, tat, limit, remaining: 0, reset_seconds, retry_after_seconds }
}

/** A route for the limits: its method and its path template. */
export interface Endpoint {
  method: string
  path: string
}

/** An assignment pattern: a route template, or all that begin with the text before a `*`. */
export interface Pattern {
  method: string
  path_pattern: string
}

/** Whether a limit that is assigned to `pattern` applies to this route. */
export function covers({ method, path_pattern }: Pattern, route: Endpoint): boolean {
  if (method !== '*' && method !== route.method) return false
  return path_pattern.endsWith('*') ? route.path.startsWith(path_pattern.slice(0, -1)) : route.path === path_pattern
}

/**
 * The pattern that applies to a route: a template before a prefix, a longer one before a shorter one, a method before
 * all.
 */
export function mostSpecific<P extends Pattern>(patterns: readonly P[], route: Endpoint): P | undefined {
  const rank = ({ method, path_pattern }: Pattern): number[] => [
    Number(!path_pattern.endsWith('*')),
    path_pattern.length,
    Number(method !== '*'),
  ]
  const fitting = patterns.filter((pattern) => covers(pattern, route))
  return fitting.sort((a, b) => compare(rank(b), rank(a)))[0]
}

function compare(a: number[], b: number[]): number {
  return a.map((value, i) => value - b[i]!).find((difference) => difference !== 0) ?? 0
}

/** The unit an address is counted as: an IPv6 /64 network is one household, and can have any number of addresses. */
export function toNetwork(address: string): string {
  if (!address.includes(':')) return address
  const [head = '', tail] = address.split('::')
  const front = head ? head.split(':') : []
  const back = tail ? tail.split(':') : []
  const gap = tail === undefined ? 0 : 8 - front.length - back.length
  return `${[...front, ...Array<string>(gap).fill('0'), ...back].slice(0, 4).join(':')}::/64`
}
