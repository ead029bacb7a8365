import { withDeadline } from '../../lib/core/scheduling/deadline.ts'
import type { Reading } from '../../lib/metrics/page.ts'

/** Longer than the primary process waits for the other workers. */
const PRIMARY_TIMEOUT_MS = 2_000

/**
 * Creates a worker's requests for the metrics of all workers.
 *
 * @param send sends a request with a number to the primary process, which may end, or hang, before it answers
 */
export function createMetricsRequests(send: (request: number) => void) {
  const waiting = new Map<number, (readings: Reading[]) => void>()
  let last = 0
  return {
    /** @returns `undefined` without an answer in time */
    async ask(): Promise<Reading[] | undefined> {
      const request = ++last
      const answer = new Promise<Reading[]>((resolve) => waiting.set(request, resolve))
      send(request)
      const readings = await withDeadline(answer, PRIMARY_TIMEOUT_MS, undefined)
      waiting.delete(request)
      return readings
    },
    /** An answer has arrived. */
    answered(request: number, readings: Reading[]): void {
      waiting.get(request)?.(readings)
    },
  }
}
