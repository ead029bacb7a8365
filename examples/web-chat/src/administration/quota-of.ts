import type { UserQuota } from 'chat-server/client/admin'

export const PERIODS = ['day', 'month'] as const
export const UNITS = ['answers', 'tokens', 'cost_micros'] as const

/** The parts of a currency in which costs are counted. */
const MICROS = 1_000_000

/** The quota in the fields of a form: what is left empty is not limited. */
export function quotaOf(fields: Record<string, string>): UserQuota {
  const periods = PERIODS.map((period) => {
    const limits = UNITS.flatMap((unit) => {
      const typed = fields[`${period}.${unit}`] ?? ''
      if (typed === '') return []
      return [[unit, unit === 'cost_micros' ? Math.round(Number(typed) * MICROS) : Number(typed)] as const]
    })
    return [period, Object.fromEntries(limits)] as const
  })
  return Object.fromEntries(periods.filter(([, limits]) => Object.keys(limits).length > 0))
}

/** A limit as it is typed into a field; nothing for one that is not set. */
export function typedOf(unit: (typeof UNITS)[number], limit: number | undefined): string {
  if (limit === undefined) return ''
  return String(unit === 'cost_micros' ? limit / MICROS : limit)
}
