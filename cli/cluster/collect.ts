import { setTimeout as sleep } from 'node:timers/promises'
import type { Reading } from '../../lib/metrics/page.ts'
import { readFamilies } from '../../lib/metrics/page.ts'
import { createProcessMetrics } from '../../lib/metrics/process.ts'
import { createTotals } from './totals.ts'

/** How long the page of metrics waits for a worker that hangs. */
const TIMEOUT_MS = 1_000

/** The number of the primary process among the workers, which begin with 1. */
const PRIMARY = 0

/** Collects the metrics of all workers and of the primary process. */
export function createCollector(workers: { ask(round: number): number[] }) {
  const totals = createTotals()
  const own = createProcessMetrics()
  const rounds = new Map<number, { missing: Set<number>; complete: () => void }>()
  let last = 0

  function arrived(worker: number, of = rounds.values()): void {
    for (const round of of) if (round.missing.delete(worker) && round.missing.size === 0) round.complete()
  }

  return {
    report(worker: number, readings: Reading[], round?: number): void {
      totals.update(worker, readings)
      const request = round === undefined ? undefined : rounds.get(round)
      if (request) arrived(worker, [request].values())
    },
    /** The worker has ended: no round waits for it. */
    ended(worker: number): void {
      totals.end(worker)
      arrived(worker)
    },
    /** The metrics of all, within a second whatever a worker does. */
    async collect(): Promise<Reading[]> {
      const number = ++last
      const asked = workers.ask(number)
      const missing = new Set(asked)
      await new Promise<void>((resolve) => {
        rounds.set(number, { missing, complete: resolve })
        if (missing.size === 0) resolve()
        void sleep(TIMEOUT_MS, undefined, { ref: false }).then(resolve)
      })
      rounds.delete(number)
      totals.update(PRIMARY, await readFamilies(own.families))
      own.looked()
      return totals.read(new Set([PRIMARY, ...asked.filter((worker) => !missing.has(worker))]))
    },
  }
}
