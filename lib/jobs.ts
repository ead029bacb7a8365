import type { Context, Log } from './context.ts'
import { causeText } from './core/errors.ts'
import { warnOnce } from './core/once.ts'
import { prune } from './ops/retention.ts'
import { checkWal } from './ops/wal.ts'

/** Work that a service repeats by itself. What is due once is a row of `tasks`. */
interface Job {
  interval_ms: number
  run: () => unknown
  /** What the log warns of when it fails, once until it succeeds again. Without it a failure is not logged. */
  warning?: string
  /** Whether a run that takes longer than the interval has the next one skipped. */
  exclusive?: true
}

/** All jobs of a service. */
function jobsOf(ctx: Context): Record<'heartbeats' | 'presence' | 'leases' | 'retention' | 'wal', Job> {
  return {
    heartbeats: { interval_ms: ctx.config.sse.heartbeat_seconds * 1000, run: () => ctx.hub.sendHeartbeats() },
    // How soon others learn that a user is no longer there.
    presence: { interval_ms: 5_000, run: ctx.presence.sweep, warning: 'Presence could not be kept' },
    // Renews the leases of answers and looks for lapsed ones; a lease lasts fifteen seconds.
    leases: { interval_ms: 2_000, run: ctx.answers.renewLeases, warning: 'Answers could not be looked after' },
    retention: {
      interval_ms: 60_000,
      run: () => prune(ctx),
      warning: 'What is kept no longer could not be deleted',
      exclusive: true,
    },
    // That the storage is in trouble is reported by the calls that use it.
    wal: { interval_ms: 60_000, run: () => checkWal(ctx) },
  }
}

/** The jobs of a service, once they run. */
export type Jobs = ReturnType<typeof createJobs>

/** Makes the jobs of a service; none runs before `start`. */
export function createJobs(ctx: Context) {
  const jobs = jobsOf(ctx)
  const timers: NodeJS.Timeout[] = []
  const running = new Set<Promise<void>>()
  const runs = Object.values(jobs).map((job) => ({ ...job, run: supervised(job, ctx.log) }))

  function repeat({ interval_ms, run, exclusive }: Omit<Job, 'run'> & { run: () => Promise<void> }): void {
    const runOnce = () => {
      const done = run().finally(() => running.delete(done))
      if (exclusive) running.add(done)
    }
    timers.push(setInterval(runOnce, interval_ms).unref())
  }

  return {
    /**
     * Starts all jobs; answers whose lease has lapsed are ended before it resolves.
     *
     * @returns whether they did not run yet
     */
    async start(): Promise<boolean> {
      if (timers.length > 0) return false
      runs.forEach(repeat)
      await supervised(jobs.leases, ctx.log)()
      return true
    },
    /** Starts no further run, and waits for the exclusive ones that are under way. */
    async stop(): Promise<void> {
      for (const timer of timers.splice(0)) clearInterval(timer)
      await Promise.all(running)
    },
  }
}

/** A job whose failures end nothing: they are logged once, until it succeeds again. */
function supervised({ run, warning, exclusive }: Job, log: Log): () => Promise<void> {
  const fail = warnOnce((error: unknown) => {
    if (warning !== undefined) log.warn(warning, { cause: causeText(error) })
  })
  let isRunning = false
  return async () => {
    if (exclusive && isRunning) return
    isRunning = true
    try {
      await run()
      fail.reset()
    } catch (error) {
      fail(error)
    } finally {
      isRunning = false
    }
  }
}
