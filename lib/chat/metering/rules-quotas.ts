import type { Quota } from '../../config/usage.ts'
import type { ExceededQuota } from '../../core/chat-error.ts'
import type { UserQuota } from './schema.ts'

/** What is limited. */
export const UNITS = ['answers', 'tokens', 'cost_micros'] as const

/** The amount of each unit. */
export type Amounts = Record<(typeof UNITS)[number], number>

/** The limit of each unit that has one. */
export type Limits = Partial<Amounts>

/** The role of quotas that all users share. */
const SERVICE = 'service'

/** The role of quotas of users without one of their roles. */
const ANY = '*'

const PERIODS = ['day', 'month'] as const

/**
 * The limits of a user with these roles: in each period the largest of the roles that have a quota, else those of `"*"`. A
 * quota without a unit does not limit it.
 */
export function limitsOfRoles(quotas: readonly Quota[], roles: readonly string[]): UserQuota {
  const limits = PERIODS.map((period) => {
    const inPeriod = quotas.filter((quota) => quota.period === period && quota.role !== SERVICE)
    const own = inPeriod.filter(({ role }) => roles.includes(role))
    return [period, largest(own.length > 0 ? own : inPeriod.filter(({ role }) => role === ANY))] as const
  })
  return Object.fromEntries(limits.filter(([, each]) => each !== undefined))
}

/** The limits of all users together. */
export function limitsOfService(quotas: readonly Quota[]): UserQuota {
  const own = quotas.filter(({ role }) => role === SERVICE)
  return Object.fromEntries(own.map((quota) => [quota.period, largest([quota])]))
}

function largest(quotas: readonly Quota[]): Limits | undefined {
  if (quotas.length === 0) return undefined
  return Object.fromEntries(
    UNITS.filter((unit) => quotas.every((quota) => quota[unit] !== undefined)).map((unit) => [
      unit,
      Math.max(...quotas.map((quota) => quota[unit]!)),
    ]),
  )
}

/** What is used of a limited period, with what is reserved for answers in progress. */
export interface Spent extends Amounts {
  scope: ExceededQuota['scope']
  period: ExceededQuota['period']
}

/** A limit that an answer would exceed; of several the one that is in the way for the longest. */
export function findExceeded(
  all: readonly (Spent & { limits: Limits; resets_at: number })[],
  wanted: Amounts,
): (Omit<ExceededQuota, 'resets_at'> & { resets_at: number }) | undefined {
  const exceeded = all.flatMap(({ scope, period, limits, resets_at, ...used }) =>
    UNITS.filter((unit) => used[unit] + wanted[unit] > (limits[unit] ?? Number.POSITIVE_INFINITY)).map((unit) => ({
      ...{ scope, period, unit, limit: limits[unit]!, used: used[unit], resets_at },
    })),
  )
  return exceeded.sort((a, b) => b.resets_at - a.resets_at)[0]
}
