/** How often something may happen: `burst` at once from rest, then so many a second. */
export interface Rate {
  requests_per_second: number
  burst: number
}

/** What a limit says to one request. */
export interface Decision {
  allowed: boolean
  /** The theoretical arrival time afterwards, in microseconds: what is kept of a bucket. */
  tat: number
  limit: number
  /** How many more would be let through at once. */
  remaining: number
  /** When the whole burst is there again. */
  reset_seconds: number
  /** For a request that was refused: after so many whole seconds, and not one less, it is let through. */
  retry_after_seconds?: number
}

/** One second in the unit of instants. */
const SECOND = 1_000_000

/** How far the clocks of two processes may differ. What lies further ahead was written before a clock stepped back. */
const CLOCK_SKEW = 60 * SECOND

/** What a rate means at an instant, all in whole microseconds. */
export interface Window {
  /** The time one request takes up. */
  interval: number
  /** The latest arrival time at which a request is let through. */
  last: number
  /** An arrival time beyond it cannot come from this rate and this clock. */
  absurd: number
}

/** The longest time a bucket takes to fill: what is longer is a ban, not a rate. */
const LONGEST_REFILL = 366 * 24 * 60 * 60 * SECOND

/** The time one request takes up, and how many are let through at once, within {@link LONGEST_REFILL}. */
function shapeOf({ requests_per_second, burst }: Rate): { interval: number; limit: number } {
  const interval = Math.min(LONGEST_REFILL, Math.max(1, Math.round(SECOND / requests_per_second)))
  return { interval, limit: Math.min(burst, Math.max(1, Math.floor(LONGEST_REFILL / interval))) }
}

/** The numbers that GCRA compares arrival times with. */
export function windowAt(now: number, rate: Rate): Window {
  const { interval, limit } = shapeOf(rate)
  const last = now + (limit - 1) * interval
  return { interval, last, absurd: last + interval + CLOCK_SKEW }
}

/**
 * GCRA, the generic cell rate algorithm (ITU-T I.371): a leaky bucket that keeps one number, the instant at which all
 * requests so far would be through if they came one by one at the rate.
 *
 * After a clock has stepped back, that instant may lie ahead of any that this rate leads to. It then counts as the last
 * one it could be, so that nobody waits for the clock to come round again.
 *
 * @param tat what is kept of the bucket; `undefined` for one that was never used
 */
export function spend(tat: number | undefined, now: number, rate: Rate): Decision {
  const { interval, last, absurd } = windowAt(now, rate)
  const from = tat === undefined || tat < now ? now : tat > absurd ? last : tat
  const allowed = from <= last
  return describe(allowed, allowed ? from + interval : from, now, rate)
}

/** What is said of a request that was decided on, by the arrival time afterwards. */
export function describe(allowed: boolean, tat: number, now: number, rate: Rate): Decision {
  const { interval, last } = windowAt(now, rate)
  const { limit } = shapeOf(rate)
  const reset_seconds = Math.max(0, Math.ceil((tat - now) / SECOND))
  if (allowed) return { allowed, tat, limit, remaining: Math.floor((last + interval - tat) / interval), reset_seconds }
  const retry_after_seconds = Math.max(1, Math.ceil((tat - last) / SECOND))
  return { allowed, tat, limit, remaining: 0, reset_seconds, retry_after_seconds }
}

/** A route as limits see it: its method and the template of its path. */
export interface Endpoint {
  method: string
  path: string
}

/** What is assigned: to a route's template, or to all that begin with what stands before a `*`. */
export interface Pattern {
  method: string
  path_pattern: string
}

/** Whether a limit that is assigned to `pattern` is one of this route. */
export function covers({ method, path_pattern }: Pattern, route: Endpoint): boolean {
  if (method !== '*' && method !== route.method) return false
  return path_pattern.endsWith('*') ? route.path.startsWith(path_pattern.slice(0, -1)) : route.path === path_pattern
}

/** The pattern that counts for a route: a template before a prefix, a longer before a shorter one, a method before all. */
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

/** What an address counts as: an IPv6 network of 64 bits is one household, and can have any number of addresses. */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address
  const [head = '', tail] = address.split('::')
  const front = head ? head.split(':') : []
  const back = tail ? tail.split(':') : []
  const gap = tail === undefined ? 0 : 8 - front.length - back.length
  return `${[...front, ...Array<string>(gap).fill('0'), ...back].slice(0, 4).join(':')}::/64`
}
