import { derived } from '../config/live.ts'
import type { Config } from '../config/parse.ts'
import { ChatError } from '../core/errors.ts'
import type { Database } from '../storage/database.ts'
import type { Micros } from '../storage/sql.ts'
import { createLocalBuckets, toBucket, toCallerKey } from './buckets.ts'
import { type Decision, type Endpoint, mostSpecific, type Rate } from './rules.ts'
import { findLimitsVersion, type LimitRule, type LimitsVersion, listLimitRules } from './store.ts'
import { takeShared } from './store-buckets.ts'

/** A call to be counted. */
export interface LimitedCall extends Endpoint {
  /** The signed-in user; without one the address counts. */
  user_id?: string | undefined
  ip?: string | undefined
  /** Whether it is a sign-in attempt; these are counted by address, for all such routes together. */
  is_sign_in: boolean
  /** The version of the limits, if it was read together with the session of the caller. */
  limits_version?: LimitsVersion | undefined
}

/** The result of the limits for a call, with the name of the limit that decided. */
export interface LimitResult extends Decision {
  profile: string
}

/** Counts calls against the limits of their routes. */
export interface Limiter {
  /** @returns the result, or `undefined` without a limit */
  take(call: LimitedCall): Promise<LimitResult | undefined>
  /** Counts a failure as a sign-in. @throws ChatError `rate_limited` at the limit of the address */
  signInFailed(ip: string | undefined): Promise<void>
}

/** The maximum number of buckets, a few dozen bytes each: enough for a hundred thousand simultaneous callers. */
const MAX_LOCAL_BUCKETS = 100_000

/** Creates the limiter of a service. The assignments are read for every call, since other processes change them too. */
export function createLimiter(deps: { config: Config; db: Database; now: () => Micros }): Limiter {
  const { config, db, now } = deps
  const shareOfDefault = derived(
    () => config.rate_limits,
    () => shareOf(config),
  )
  const local = createLocalBuckets(MAX_LOCAL_BUCKETS)
  let cached = { version: null as LimitsVersion, rules: [] as LimitRule[], byRoute: new Map<string, Found>() }

  let reading: Promise<LimitsVersion> | undefined

  /** Read once for all calls of this turn of the event loop, so they share one state. */
  function currentVersion(): Promise<LimitsVersion> {
    if (reading) return reading
    setImmediate(() => {
      reading = undefined
    })
    reading = findLimitsVersion(db)
    return reading
  }

  function findRule({ method, path }: LimitedCall): LimitRule | undefined {
    if (cached.rules.length === 0) return undefined
    const name = `${method} ${path}`
    const entry = cached.byRoute.get(name) ?? { rule: mostSpecific(cached.rules, { method, path }) }
    cached.byRoute.set(name, entry)
    return entry.rule
  }

  const takeSignIn = (address: string) => {
    const signIns = signInLimit(config)
    return takeShared(db, toBucket(signIns, address), now(), signIns)
  }

  return {
    async signInFailed(ip) {
      const { allowed, retry_after_seconds = 1 } = await takeSignIn(toCallerKey({ ip }))
      if (!allowed) throw new ChatError('rate_limited', { retry_after_seconds })
    },

    async take(call) {
      const version = call.limits_version === undefined ? await currentVersion() : call.limits_version
      if (version !== cached.version) cached = { version, rules: await listLimitRules(db), byRoute: new Map() }
      const rule = findRule(call)
      const address = toCallerKey({ ip: call.ip })
      const caller = toCallerKey(call)
      if (call.is_sign_in) {
        const decision = await takeSignIn(address)
        // A profile applies in addition: it cannot make guessing easier.
        if (!decision.allowed || !rule) return { profile: 'sign_in', ...decision }
      }
      if (rule) {
        return { profile: rule.profile, ...(await takeShared(db, toBucket(rule, caller), now(), rule)) }
      }
      if (config.rate_limits.default_rps === 0) return undefined
      return { profile: 'default', ...local.take(caller, now(), shareOfDefault()) }
    },
  }
}

/** The limit of sign-in attempts from one address. */
export function signInLimit({ rate_limits: { auth_login_per_ip_per_min: burst } }: Config): Rate & { id: string } {
  return { id: 'sign_in', requests_per_second: burst / 60, burst }
}

/** This process's part of the default rate: the workers of a service together permit what one process would. */
function shareOf({ rate_limits, cluster: { workers } }: Config): Rate {
  return {
    requests_per_second: Math.max(1, rate_limits.default_rps / workers),
    burst: Math.max(1, Math.floor(rate_limits.burst / workers)),
  }
}

/** The result of a single look-up, which may be empty. */
interface Found {
  rule: LimitRule | undefined
}
