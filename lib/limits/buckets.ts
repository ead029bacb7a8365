import type { Micros } from '../storage/sql.ts'
import { type Decision, type Rate, spend, toNetwork } from './rules.ts'

/** A caller as buckets name it: a user, or the network of an address. */
export function toCallerKey({ user_id, ip }: { user_id?: string | undefined; ip?: string | undefined }): string {
  if (user_id !== undefined) return `user:${user_id}`
  return ip === undefined ? 'no_address' : `ip:${toNetwork(ip)}`
}

/** The bucket of a caller. Under another rate the old count has another meaning: a changed limit starts a new one. */
export function toBucket(rule: Rate & { id: string }, caller: string): string {
  return `${rule.id}:${rule.requests_per_second}/${rule.burst}:${caller}`
}

/** The rule and the caller of a bucket. */
export function parseBucket(bucket: string): { rule: string; caller: string } {
  const [, rule = '', caller = ''] = /^([^:]*):[^:/]*\/[^:]*:(.*)$/s.exec(bucket) ?? []
  return { rule, caller }
}

/** Buckets of one process, in memory. */
export interface LocalBuckets {
  take(bucket: string, now: Micros, rate: Rate): Decision
  /** The result of `take`, without taking anything. */
  peek(bucket: string, now: Micros, rate: Rate): Decision
  readonly size: number
}

/** How many unused buckets each request deletes, which is faster than new ones can appear. */
const CLEARED_EACH_TIME = 2

/**
 * Buckets in the order of their last use. One with a past time has no effect and is deleted; beyond `maximum` the least
 * recently used one is deleted as well.
 */
export function createLocalBuckets(maximum: number): LocalBuckets {
  const tats = new Map<string, Micros>()

  function clear(now: Micros): void {
    let left = CLEARED_EACH_TIME
    for (const [bucket, tat] of tats) {
      if (left-- === 0 || (tat > now && tats.size <= maximum)) return
      tats.delete(bucket)
    }
  }

  return {
    take(bucket, now, rate) {
      const decision = spend(tats.get(bucket), now, rate)
      tats.delete(bucket)
      tats.set(bucket, decision.tat)
      clear(now)
      return decision
    },
    peek: (bucket, now, rate) => spend(tats.get(bucket), now, rate),
    get size() {
      return tats.size
    },
  }
}
