import type { Context } from '../../context.ts'
import { assertAdmin, refuseKeys } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { toInstant } from '../../core/time.ts'
import { SECOND } from '../../core/units.ts'
import { useCase } from '../../core/use-case.ts'
import { parseBucket, toBucket, toCallerKey } from '../../limits/buckets.ts'
import { signInLimit } from '../../limits/limiter.ts'
import { CLOCK_SKEW, type Rate, spend } from '../../limits/rules.ts'
import { LimitResetInput, type LimitStatus, LimitStatusQuery, type Throttled } from '../../limits/schema.ts'
import { type BucketRow, deleteBuckets, findBuckets, listFullBuckets, listLimitRules } from '../../limits/store.ts'
import type { Queries } from '../../storage/database.ts'
import { byActor } from '../audit/rules.ts'
import { countSignIns } from '../audit/store.ts'
import { countPaused } from '../passwords/store.ts'
import { findUser, findUsernames } from '../users/store.ts'

/** The maximum number of callers that the status shows. */
const MAX_SHOWN = 200

/** The maximum number of buckets and of accounts that it reads. */
const MAX_BUCKETS = 10_000
const MAX_ACCOUNTS = 10_000

/** A limit as buckets name it. */
interface Limit extends Rate {
  id: string
  profile: string
  method?: string
  path_pattern?: string
}

/**
 * The callers that are throttled now by the limits that all processes share, and how sign-ins went. What the default
 * limit refuses is not in it: each process counts that in its memory.
 *
 * @throws ChatError `forbidden`; `not_found` for an unknown user
 */
export const status = useCase({
  takes: ['actor'],
  input: LimitStatusQuery,
  errors: ['not_found'],
  run: async (ctx, actor, { user_id }): Promise<LimitStatus> => {
    assertAdmin(actor)
    const now = ctx.now()
    return ctx.db.snapshot(async (db) => {
      if (user_id !== undefined && !(await findUser(db, user_id))) throw new ChatError('not_found')
      const limits = await limitsOf(ctx, db)
      const buckets =
        user_id === undefined
          ? await listFullBuckets(db, now, MAX_BUCKETS)
          : await findBuckets(db, namesOf(limits, toCallerKey({ user_id })))
      const throttled = buckets.flatMap((bucket) => throttledIn(bucket, limits, now))
      const shown = throttled.sort((a, b) => (a.until < b.until ? 1 : -1)).slice(0, MAX_SHOWN)
      const sign_ins = await countSignIns(db, now)
      return {
        throttled: await withUsernames(db, shown),
        is_complete: throttled.length <= MAX_SHOWN && buckets.length < MAX_BUCKETS,
        locked_accounts: await countPaused(db, now, MAX_ACCOUNTS),
        sign_ins: { ...sign_ins, since: toInstant(sign_ins.since) },
      }
    })
  },
})

/**
 * Forgets the calls of a user or an address, which may call again at once.
 *
 * @returns the number of forgotten counts
 * @throws ChatError `forbidden`, also with an API key
 */
export const reset = useCase({
  takes: ['actor'],
  input: LimitResetInput,
  run: async (ctx, actor, input): Promise<{ reset: number }> => {
    assertAdmin(actor)
    refuseKeys(actor)
    const limits = await limitsOf(ctx, ctx.db)
    const [user_id, address] = 'user_id' in input ? [input.user_id] : [undefined, input.address]
    const caller = toCallerKey({ user_id, ip: address?.replace(/\/64$/, '') })
    return ctx.write(async (tx) => {
      await ctx.accounts.assertStillAdmin(tx, actor)
      const reset = await deleteBuckets(tx, namesOf(limits, caller))
      const detail = { ...(address !== undefined && { address }), count: reset }
      tx.audit({ act: 'limits.reset', ...byActor(actor), subject_id: user_id, detail })
      return { reset }
    })
  },
})

async function limitsOf(ctx: Context, db: Queries): Promise<Map<string, Limit>> {
  const signIn = { ...signInLimit(ctx.config), profile: 'sign_in' }
  return new Map([signIn, ...(await listLimitRules(db))].map((limit) => [limit.id, limit]))
}

function namesOf(limits: Map<string, Limit>, caller: string): string[] {
  return [...limits.values()].map((limit) => toBucket(limit, caller))
}

/** The caller of a bucket that would be refused now. A bucket of a limit that has changed since has no effect. */
function throttledIn({ bucket, tat }: BucketRow, limits: Map<string, Limit>, now: number): Throttled[] {
  const { rule, caller } = parseBucket(bucket)
  const limit = limits.get(rule)
  if (!limit || toBucket(limit, caller) !== bucket) return []
  const { allowed, retry_after_seconds = 0 } = spend(tat, now, limit, CLOCK_SKEW)
  if (allowed) return []
  const [, kind, name] = /^(user|ip):(.*)$/s.exec(caller) ?? []
  return [
    {
      limit: limit.profile,
      ...(limit.method !== undefined && { method: limit.method }),
      ...(limit.path_pattern !== undefined && { path: limit.path_pattern }),
      ...(kind === 'user' && { user_id: name }),
      ...(kind === 'ip' && { address: name }),
      until: toInstant(now + retry_after_seconds * SECOND),
    },
  ]
}

async function withUsernames(db: Queries, throttled: Throttled[]): Promise<Throttled[]> {
  const names = await findUsernames(
    db,
    throttled.flatMap(({ user_id }) => user_id ?? []),
  )
  return throttled.map((each) => {
    const username = each.user_id && names.get(each.user_id)
    return username ? { ...each, username } : each
  })
}
