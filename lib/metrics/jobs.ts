import { currentMillis } from '../core/time.ts'
import { createCounter, type Family } from './page.ts'

/** The runs of the work that a service repeats at intervals. */
export function createJobMetrics() {
  const failed = createCounter('chat_job_failures_total', 'Runs of repeated work that failed', 'name')
  const succeeded = new Map<string, number>()
  const last: Family = {
    name: 'chat_job_last_success_seconds',
    help: 'When repeated work has last succeeded, in seconds since 1970; 0 if it has not run yet',
    type: 'gauge',
    together: 'max',
    read: () => [...succeeded].map(([job, value]) => ({ labels: { name: job }, value })),
  }
  return {
    families: [last, failed.family],
    /** Adds the series of a job. @returns a function that counts the end of a run */
    job(name: string): (isDone: boolean) => void {
      succeeded.set(name, 0)
      failed.add(name, 0)
      return (isDone) => {
        if (isDone) succeeded.set(name, currentMillis() / 1000)
        else failed.add(name, 1)
      }
    },
  }
}
