import { COMMANDS_MS, logCommands } from './accounts/audit/log-commands.ts'
import { endWebhooksOfKeys } from './accounts/means/ending-webhooks.ts'
import { indexNames } from './accounts/users/indexing.ts'
import { RENEWED_MS } from './assistant/leases.ts'
import { sweepOrFail } from './chat/attachments/sweep.ts'
import { listLastRepliers } from './chat/messages/listing-repliers.ts'
import { countUncounted, FIRST } from './chat/unread/counting.ts'
import { listFollowedThreads } from './chat/unread/listing.ts'
import { recountUnread } from './chat/unread/recounting.ts'
import { renewDaily } from './chat/usage/summing.ts'
import type { Context, Log } from './context.ts'
import { causeText } from './core/errors.ts'
import { withDeadline } from './core/scheduling/deadline.ts'
import { type SingleFlight, singleFlight, warnOnce } from './core/scheduling/once.ts'
import { CHECKS } from './core/scheduling/stall-detector.ts'
import { CHECK_MS } from './files/guard.ts'
import { eraseUnused } from './guests/expiring.ts'
import { TICK_MS } from './integrations/webhooks/engine.ts'
import { recoverFiles } from './ops/files/lost-files.ts'
import { createReserveLook } from './ops/reserve.ts'
import { pruneSome } from './ops/retention.ts'
import { checkWal } from './ops/wal.ts'

/** Work that a service repeats at intervals. Work that is due once is a row of `tasks`. */
interface Job {
  interval_ms: number
  run: () => unknown
  /** Logged when a run fails, once until a run succeeds again. */
  warning: string
  /** Whether a run that takes longer than the interval skips the next one, and `stop` waits for a run. */
  exclusive?: true
  /** Whether the job also runs once before the service is ready. */
  at_start?: true
}

/** How long one run of `retention` searches inboxes: it counts what is in them, so a round through all takes many runs. */
const INBOXES_MS = 100

/** A storage of files that does not answer holds up no start. */
const PLACE_MS = 3_000

const COMMANDS = {
  interval_ms: COMMANDS_MS,
  warning: 'Acts of the command line could not be logged',
  exclusive: true,
} as const

type JobName =
  | 'heartbeats'
  | 'stalled'
  | 'callers'
  | 'presence'
  | 'leases'
  | 'retention'
  | 'files'
  | 'place'
  | 'lost'
  | 'wal'
  | 'commands'
  | 'reserve'
  | 'backups'
  | 'clock'
  | 'usage'
  | 'names'
  | 'repliers'
  | 'recount'
  | 'follows'
  | 'unread'
  | 'guests'
  | 'webhooks'
  | 'deliveries'

function jobsOf(ctx: Context): Record<JobName, Job> {
  const inboxes = { after: '', ms: INBOXES_MS }
  const counting = { after: FIRST, is_counted: false }
  const guests = { until: 0 }
  return {
    heartbeats: {
      interval_ms: ctx.config.sse.heartbeat_seconds * 1000,
      run: () => ctx.streams.hub.sendHeartbeats(),
      warning: 'Heartbeats could not be sent to event streams',
    },
    stalled: {
      interval_ms: (ctx.config.server.stalled_seconds * 1000) / CHECKS,
      run: () => ctx.streams.hub.stalled.look(),
      warning: 'Event streams whose clients read nothing could not be found',
    },
    // A slow host is called again after it has returned.
    callers: {
      interval_ms: ctx.config.sse.heartbeat_seconds * 1000,
      run: ctx.streams.hub.recheckLogins,
      warning: 'It could not be checked whether callers of the host are still signed in',
      exclusive: true,
    },
    // The interval is the maximum delay before other users see that a user is offline.
    presence: { interval_ms: 5_000, run: ctx.streams.presence.sweep, warning: 'Presence could not be updated' },
    // Renews the leases of answers, and ends answers with an expired lease; a lease lasts ten seconds.
    leases: {
      interval_ms: RENEWED_MS,
      run: ctx.answers.renewLeases,
      warning: 'Leases of answers could not be renewed',
      at_start: true,
    },
    retention: {
      interval_ms: 60_000,
      run: () => pruneSome(ctx, inboxes),
      warning: 'Expired rows could not be deleted',
      exclusive: true,
    },
    ...fileJobsOf(ctx),
    backups: {
      interval_ms: 10_000,
      run: ctx.backups.check,
      warning: 'It could not be checked whether a backup is due',
      exclusive: true,
    },
    reserve: {
      interval_ms: 10_000,
      run: createReserveLook(ctx),
      warning: 'What is kept for a full disk could not be written',
    },
    clock: {
      interval_ms: 10_000,
      run: ctx.ops.clockKeeper.check,
      warning: 'The time could not be noted: the next start may take its clock for wrong',
      exclusive: true,
    },
    usage: {
      interval_ms: 60_000,
      run: () => renewDaily(ctx),
      warning: 'It could not be checked whether what is stored has been summed up today',
      exclusive: true,
    },
    names: {
      interval_ms: 2_000,
      run: () => indexNames(ctx),
      warning: 'Names could not be indexed: some users are not found by all of their words',
      exclusive: true,
    },
    repliers: {
      interval_ms: 2_000,
      run: () => listLastRepliers(ctx),
      warning: 'The users who replied last could not be stored: threads of before the upgrade are slower to list',
      exclusive: true,
    },
    recount: {
      interval_ms: 5_000,
      run: () => recountUnread(ctx),
      warning: 'Unread counts could not be counted anew: some may be wrong after processes of an older version',
      exclusive: true,
    },
    follows: {
      interval_ms: 2_000,
      run: () => listFollowedThreads(ctx),
      warning: 'Threads could not be put into the lists of those who follow them: some are missing',
      exclusive: true,
    },
    unread: {
      interval_ms: 2_000,
      run: () => countUncounted(ctx, counting),
      warning: 'What is unread could not be counted: lists of conversations take longer',
      exclusive: true,
    },
    guests: {
      interval_ms: 60_000,
      run: () => eraseUnused(ctx, guests),
      warning: 'Guests who are no longer used could not be erased',
      exclusive: true,
    },
    webhooks: {
      interval_ms: 10_000,
      run: () => ctx.config.webhooks.enabled && ctx.write((tx) => endWebhooksOfKeys(tx, ctx.now())),
      warning: 'Webhooks whose API key has expired could not be disabled',
      exclusive: true,
    },
    deliveries: {
      interval_ms: TICK_MS,
      run: () => ctx.webhooks.tick(),
      warning: 'Events could not be sent to webhooks',
      exclusive: true,
    },
    commands: { ...COMMANDS, run: () => logCommands(ctx) },
    wal: { interval_ms: 60_000, run: () => checkWal(ctx), warning: 'The size of the WAL could not be checked' },
  }
}

function fileJobsOf(ctx: Context): Record<'files' | 'place' | 'lost', Job> {
  const files = { after: '' }
  return {
    files: {
      interval_ms: 60_000,
      run: () => sweepOrFail(ctx, files),
      warning: 'Files that nothing needs any more could not be deleted',
      exclusive: true,
    },
    place: {
      interval_ms: CHECK_MS,
      run: () => ctx.config.attachments.enabled && withDeadline(ctx.files.place.inspect(), PLACE_MS, undefined),
      warning: 'The storage of files could not be compared with the database',
      at_start: true,
    },
    lost: {
      interval_ms: 3_600_000,
      run: () => ctx.config.attachments.enabled && recoverFiles(ctx),
      warning: 'It could not be checked whether lost files have come back',
      exclusive: true,
    },
  }
}

/** Creates the jobs of a service; none runs before `start`. */
export function createJobs(ctx: Context) {
  const jobs = Object.entries(jobsOf(ctx)).map(([name, job]) => ({
    ...job,
    run: supervised(job, ctx.log, ctx.metrics.job(name)),
  }))
  const timers: NodeJS.Timeout[] = []
  return {
    /**
     * Starts all jobs, and resolves when those with `at_start` have run once.
     *
     * @returns false if the jobs were running already
     */
    async start(): Promise<boolean> {
      if (timers.length > 0) return false
      for (const { interval_ms, run } of jobs) timers.push(setInterval(() => void run(), interval_ms).unref())
      for (const { at_start, run } of jobs) if (at_start) await run()
      return true
    },
    /** Starts no further runs, and waits for the exclusive runs in progress. */
    async stop(): Promise<void> {
      for (const timer of timers.splice(0)) clearInterval(timer)
      await Promise.all(jobs.map(({ run }) => 'current' in run && run.current()))
    },
  }
}

/** The run of a job that never rejects: a failure is logged once until a run succeeds again. */
function supervised(
  { run, warning, exclusive }: Job,
  log: Log,
  ran: (isDone: boolean) => void,
): (() => Promise<void>) | SingleFlight<void> {
  const fail = warnOnce((error: unknown) => log.warn(warning, { cause: causeText(error) }))
  const attempt = async () => {
    try {
      await run()
      fail.reset()
      ran(true)
    } catch (error) {
      fail(error)
      ran(false)
    }
  }
  return exclusive ? singleFlight(attempt) : attempt
}
