import { createHistogram } from './histogram.ts'
import type { Family } from './page.ts'
import type { Metrics } from './registry.ts'

const BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5]

/** Limit profiles with their own series; those that administrators create are counted together. */
const MAX_PROFILES = 50

/** Counts requests. */
export function createRequestMetrics(): Pick<Metrics, 'route' | 'limited'> & { families: Family[] } {
  const durations = createHistogram<'method' | 'route'>(
    'chat_http_request_duration_seconds',
    'Time to answer a request, by route template; of a stream, time to open it',
    BUCKETS,
  )
  const answered = new Map<string, { method: string; route: string; counts: Record<number, number> }>()
  // Separate from the durations: with the status, each of those would be eleven series.
  const requests: Family = {
    name: 'chat_http_requests_total',
    help: 'Requests answered, by route template and status',
    type: 'counter',
    read: () =>
      [...answered.values()].flatMap(({ method, route, counts }) =>
        Object.entries(counts).map(([status, value]) => ({ labels: { method, route, status }, value })),
      ),
  }
  const decisions = new Map<string, { allowed: number; refused: number }>()
  const limits: Family = {
    name: 'chat_rate_limit_decisions_total',
    help: 'Requests counted against a rate limit',
    type: 'counter',
    read: () =>
      [...decisions].flatMap(([profile, counts]) =>
        Object.entries(counts).map(([decision, value]) => ({ labels: { profile, decision }, value })),
      ),
  }

  return {
    families: [durations.family, requests, limits],
    route(method, route) {
      const key = `${method} ${route}`
      const counts: Record<number, number> = answered.get(key)?.counts ?? {}
      answered.set(key, { method, route, counts })
      let observe: ((seconds: number) => void) | undefined
      return (status, seconds) => {
        if (seconds !== undefined) {
          observe ??= durations.of({ method, route })
          observe(seconds)
        }
        counts[status] = (counts[status] ?? 0) + 1
      }
    },
    limited(profile, allowed) {
      const name = decisions.has(profile) || decisions.size < MAX_PROFILES ? profile : 'other'
      const counts = decisions.get(name) ?? { allowed: 0, refused: 0 }
      if (allowed) counts.allowed++
      else counts.refused++
      decisions.set(name, counts)
    },
  }
}
