import type { Context, Log } from './context.ts'
import { causeText } from './core/errors.ts'
import { type SingleFlight, singleFlight, warnOnce } from './core/once.ts'
import { prune } from './ops/retention.ts'
import { checkWal } from './ops/wal.ts'

/** Work that a service repeats at intervals. Work that is due once is a row of `tasks`. */
interface Job {
  interval_ms: number
  run: () => unknown
  /** The warning in the log when it fails, once until it succeeds again. Without it a failure is not logged. */
  warning?: string
  /** Whether a run that takes longer than the interval skips the next one; `stop` waits for it. */
  exclusive?: true
  /** Whether it also runs once before the service is ready. */
  at_start?: true
}

/** All jobs of a service. */
function jobsOf(ctx: Context): Record<'heartbeats' | 'presence' | 'leases' | 'retention' | 'wal', Job> {
  return {
    heartbeats: { interval_ms: ctx.config.sse.heartbeat_seconds * 1000, run: () => ctx.hub.sendHeartbeats() },
    // How soon other users learn that a user has gone offline.
    presence: { interval_ms: 5_000, run: ctx.presence.sweep, warning: 'Presence could not be stored' },
    // Renews the leases of answers and looks for expired ones; a lease lasts ten seconds.
    leases: {
      interval_ms: 2_000,
      run: ctx.answers.renewLeases,
      warning: 'Answers could not be looked after',
      at_start: true,
    },
    retention: {
      interval_ms: 60_000,
      run: () => prune(ctx),
      warning: 'What is kept no longer could not be deleted',
      exclusive: true,
    },
    // The calls that use the storage report its failures.
    wal: { interval_ms: 60_000, run: () => checkWal(ctx) },
  }
}

/** Creates the jobs of a service; none runs before `start`. */
export function createJobs(ctx: Context) {
  const jobs = Object.values(jobsOf(ctx)).map((job) => ({ ...job, run: supervised(job, ctx.log) }))
  const timers: NodeJS.Timeout[] = []
  return {
    /**
     * Starts all jobs; those with `at_start` have run once when it resolves.
     *
     * @returns whether they were not running yet
     */
    async start(): Promise<boolean> {
      if (timers.length > 0) return false
      for (const { interval_ms, run } of jobs) timers.push(setInterval(() => void run(), interval_ms).unref())
      for (const { at_start, run } of jobs) if (at_start) await run()
      return true
    },
    /** Starts no further run, and waits for the exclusive ones in progress. */
    async stop(): Promise<void> {
      for (const timer of timers.splice(0)) clearInterval(timer)
      await Promise.all(jobs.map(({ run }) => 'current' in run && run.current()))
    },
  }
}

/** A job whose failures are logged once, until it succeeds again, and end nothing. */
function supervised({ run, warning, exclusive }: Job, log: Log): (() => Promise<void>) | SingleFlight<void> {
  const fail = warnOnce((error: unknown) => {
    if (warning !== undefined) log.warn(warning, { cause: causeText(error) })
  })
  const attempt = async () => {
    try {
      await run()
      fail.reset()
    } catch (error) {
      fail(error)
    }
  }
  return exclusive ? singleFlight(attempt) : attempt
}
