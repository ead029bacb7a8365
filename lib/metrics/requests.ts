import { Counter, type Registry } from 'prom-client'
import { createHistogram } from './histogram.ts'
import type { Metrics } from './registry.ts'

const BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5]

/** Profiles of limits that have series of their own; what administrators make beyond it is counted together. */
const MAX_PROFILES = 50

/** Counts requests by hand, since each one is: prom-client looks a series up in the time of many additions. */
export function createRequestMetrics(registry: Registry): Pick<Metrics, 'route' | 'limited'> {
  const registers = [registry]
  const durations = createHistogram<'method' | 'route'>(registry, {
    name: 'chat_http_request_duration_seconds',
    help: 'Time to answer a request, by route template; of a stream, time to open it',
    buckets: BUCKETS,
  })
  const answered = new Map<string, { method: string; route: string; counts: Record<number, number> }>()
  // Apart from the durations: with the status, each of those would be eleven series.
  new Counter({
    name: 'chat_http_requests_total',
    help: 'Requests answered, by route template and status',
    labelNames: ['method', 'route', 'status'],
    registers,
    collect() {
      this.reset()
      for (const { method, route, counts } of answered.values())
        for (const [status, count] of Object.entries(counts)) this.inc({ method, route, status }, count)
    },
  })
  const decisions = new Map<string, { allowed: number; refused: number }>()
  new Counter({
    name: 'chat_rate_limit_decisions_total',
    help: 'Requests counted against a rate limit',
    labelNames: ['profile', 'decision'],
    registers,
    collect() {
      this.reset()
      for (const [profile, counts] of decisions)
        for (const [decision, count] of Object.entries(counts)) this.inc({ profile, decision }, count)
    },
  })

  return {
    route(method, route) {
      const key = `${method} ${route}`
      const counts: Record<number, number> = answered.get(key)?.counts ?? {}
      answered.set(key, { method, route, counts })
      let observe: ((seconds: number) => void) | undefined
      return (status, seconds) => {
        observe ??= durations.of({ method, route })
        observe(seconds)
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
