import { causeText } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import { singleFlight, warnOnce } from '../core/once.ts'
import { VERSION } from '../core/version.ts'
import { type Snapshot, toParams, toWholeSnapshot } from '../live/snapshots.ts'
import type { Ephemeral } from '../live/transaction.ts'
import type { Signal } from './signals.ts'
import * as store from './store.ts'
import { createVoice, type VoiceDeps } from './voice.ts'

/** How long signals are kept, in microseconds: a process that was away for longer looks at everything. */
const SIGNALS_KEPT = 10_000_000

/** After a longer pause of this process signals may be missing. */
const MISSED_MS = 8_000

/** How long the users of a stopped process are kept, in microseconds; they count for a part of it. */
const LEFT_KEPT = 60_000_000

/** After a longer time without a successful look at the signals the process is not ready. */
const LATE_MS = 2_000

/** For so long after the last other process has gone, or after the start, users may be known by it. */
const COMPANY_MS = 20_000

/** What a process does with the news of the others. */
export interface Neighbour {
  /** The number of open streams of this process. */
  countStreams(): number
  /** Delivers what other processes have committed, and then ephemeral events of theirs. */
  receive(events: Ephemeral[]): Promise<void>
  /** Publishes the presence of these users if it has changed. */
  reconsider(userIds: string[]): void
  /** The process was away: what it knows of others, and others of it, may be outdated. */
  renew(): Promise<void>
}

/** This process among those that share the database. */
export type Cluster = ReturnType<typeof createCluster>

interface ClusterDeps extends VoiceDeps {
  now: () => number
}

/**
 * Makes a process known to the others that share the database, and passes ephemeral events on. Only on PostgreSQL: with
 * SQLite a process is alone.
 */
export function createCluster(deps: ClusterDeps) {
  const { db, config, now } = deps
  const id = newId()
  const { poll_ms, beat_seconds } = config.cluster
  const isShared = db.dialect === 'postgresql'
  const timers: NodeJS.Timeout[] = []
  let isStarted = false
  let started_at: number | undefined
  const ear = createEar(id, deps)
  const { isAlone } = ear
  const voice = createVoice(id, ear, deps)

  return {
    id,
    isShared,
    isAlone,
    /** Whether other processes run, or have run recently: their users may still count. */
    hasCompany: () => isStarted && ear.hasCompany(),
    /** Whether the signals of others could not be read for a while. */
    isLate: () => isStarted && ear.isLate(),
    countNodes: ear.countNodes,
    /** When this process began to serve; `undefined` for one that runs a command beside the service. */
    startedAt: () => started_at,

    announce: voice.announce,
    announceUsers: voice.announceUsers,

    /** Registers the process, and begins to hear the others. */
    async start(neighbour: Neighbour): Promise<void> {
      started_at ??= now()
      if (!isShared || isStarted) return
      await store.insertNode(db, id, VERSION)
      isStarted = true
      await ear.listen(neighbour)
      timers.push(every(poll_ms, () => ear.listen(neighbour), ear.expect))
      voice.start((signal) => hear([signal], neighbour))
      timers.push(
        every(beat_seconds * 1000, async () => {
          voice.retry()
          await beat(id, deps, neighbour, voice.announceUsers)
        }),
      )
    },

    /** Removes the process at once, and tells the others. */
    async stop(): Promise<void> {
      for (const timer of timers.splice(0)) clearInterval(timer)
      if (isStarted) {
        isStarted = false
        await leave(id, deps, async (userIds) => {
          voice.announceUsers(userIds)
          await voice.flush()
        })
      }
      await voice.close()
    },
  }
}

/** Runs `work` at intervals, once at a time. A failure is left to the next run. @param onTick is called at each interval */
function every(ms: number, work: () => Promise<void>, onTick = () => {}): NodeJS.Timeout {
  const run = singleFlight(work)
  const tick = () => {
    onTick()
    run().catch(() => {})
  }
  return setInterval(tick, ms).unref()
}

/** Removes the row of a process that stops. @param tell lets the others know of its users */
async function leave(id: string, { db, log }: ClusterDeps, tell: (userIds: string[]) => Promise<void>): Promise<void> {
  try {
    await tell(await store.removeNode(db, id))
  } catch (error) {
    log.warn('Other processes could not be told of the stop', { cause: causeText(error) })
  }
}

/** Reports that a process lives, and removes those that no longer do. */
async function beat(
  id: string,
  { db, config }: ClusterDeps,
  neighbour: Neighbour,
  tell: (userIds: string[]) => void,
): Promise<void> {
  if (!(await store.beat(db, id, neighbour.countStreams()))) {
    // First: after a failure the next beat finds no row again, and renews.
    await neighbour.renew()
    await store.insertNode(db, id, VERSION)
  }
  const gone = await store.removeDead(db, config.cluster.dead_seconds * 1_000_000, LEFT_KEPT)
  neighbour.reconsider(gone)
  tell(gone)
  await store.deleteSignals(db, SIGNALS_KEPT)
}

/** Reads what the other processes have sent, and counts them. */
function createEar(id: string, { db, config, log, metrics }: ClusterDeps) {
  let others: ReadonlySet<string> = new Set()
  let snapshot: Snapshot | undefined
  // Not a time: a busy event loop is no failure of the database.
  let intervals = 0
  let company_until = 0
  let looked_at = performance.now()
  const fail = warnOnce((error: unknown) => log.warn('Other processes cannot be heard', { cause: causeText(error) }))

  async function look(neighbour: Neighbour): Promise<void> {
    // Signals of this time may be deleted already.
    if (performance.now() - looked_at > MISSED_MS) snapshot = undefined
    looked_at = performance.now()
    const found = await store.findSignals(db, id, snapshot && toParams(snapshot))
    const now = toWholeSnapshot(found.snapshot)
    // Earlier: a database has taken over from another that had seen more transactions.
    const isFirst = snapshot === undefined || now.xmax < snapshot.xmax
    snapshot = now
    others = new Set(found.others)
    if (isFirst || others.size > 0) company_until = performance.now() + COMPANY_MS
    if (isFirst) await neighbour.renew()
    if (found.bodies.length === 0) return
    await hear(
      found.bodies.map((body) => JSON.parse(body) as Signal),
      neighbour,
    )
  }

  return {
    isAlone: () => others.size === 0,
    /** Whether this is another process with the same database. */
    isNode: (nodeId: string) => others.has(nodeId),
    hasCompany: () => performance.now() < company_until,
    /** An interval has passed. */
    expect: () => void intervals++,
    isLate: () => intervals * config.cluster.poll_ms > LATE_MS,
    countNodes: () => others.size + 1,

    async listen(neighbour: Neighbour): Promise<void> {
      const started = performance.now()
      try {
        await look(neighbour)
        intervals = 0
        metrics.polled((performance.now() - started) / 1000)
        fail.reset()
      } catch (error) {
        // What was missed is unknown.
        snapshot = undefined
        fail(error)
      }
    },
  }
}

async function hear(signals: Signal[], neighbour: Neighbour): Promise<void> {
  neighbour.reconsider(signals.flatMap((signal) => signal.user_ids))
  await neighbour.receive(signals.flatMap((signal) => signal.events))
}
