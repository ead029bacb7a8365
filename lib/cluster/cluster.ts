import { causeText } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import { singleFlight, warnOnce } from '../core/once.ts'
import { VERSION } from '../core/version.ts'
import type { Ephemeral } from '../live/transaction.ts'
import type { Database } from '../storage/database.ts'
import type { SignalsFile } from '../storage/sqlite/signals-file.ts'
import { createBeat } from './beat.ts'
import { createLook } from './look.ts'
import { createPublisher, type Publisher, type PublisherDeps } from './publisher.ts'
import { createReloadAnswer } from './reload.ts'
import type { Signal } from './signals.ts'
import * as store from './store.ts'

/** After a longer pause of this process signals may be missing. */
const MISSED_MS = 8_000

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

type Receiver = ReturnType<typeof createReceiver>

/** This process among those that share the database. */
export type Cluster = ReturnType<typeof createCluster>

interface ClusterDeps extends PublisherDeps {
  /** Where the processes of a SQLite file meet. Its failure harms nothing: a process is then alone. */
  signals?: SignalsFile | undefined
  now: () => number
}

/** Makes a process known to the others that share the database, and passes ephemeral events on. */
export function createCluster(given: ClusterDeps) {
  const { signals, now } = given
  const id = newId()
  const db: Database = signals ?? given.db
  const deps = { ...given, db }
  const isApart = signals !== undefined
  // A database in memory has one process.
  const isShared = isApart || db.dialect === 'postgresql'
  const timers: NodeJS.Timeout[] = []
  let isStarted = false
  let started_at: number | undefined
  const reloads = createReloadAnswer(id, db)
  const receiver = createReceiver(id, { ...deps, reload: reloads.handle })
  const publisher = createPublisher(id, receiver, deps)

  return {
    id,
    db,
    isShared,
    isApart,
    /** Whether processes have met: the first that serves creates the file of signals. */
    hasMet: () => signals?.exists() ?? isShared,
    isAlone: receiver.isAlone,
    /** Whether other processes run, or have run recently: their users may still count. */
    hasCompany: () => isStarted && receiver.hasCompany(),
    /** Whether the signals of others could not be read for a while. */
    isLate: () => isStarted && !isApart && receiver.isLate(),
    countNodes: receiver.countNodes,
    /** When this process began to serve; `undefined` for one that runs a command beside the service. */
    startedAt: () => started_at,

    onReload: reloads.onReload,
    announce: publisher.announce,
    announceUsers: publisher.announceUsers,

    /** Registers the process, and begins to receive signals of the others. */
    async start(neighbour: Neighbour): Promise<void> {
      started_at ??= now()
      if (!isShared || isStarted) return
      await register(id, deps)
      isStarted = true
      await receiver.listen(neighbour)
      publisher.start((signal) => handleSignals([signal], neighbour))
      timers.push(...startTimers(id, deps, neighbour, { receiver, publisher }))
    },

    /** Removes the process at once, and tells the others. */
    async stop(): Promise<void> {
      for (const timer of timers.splice(0)) clearInterval(timer)
      if (isStarted) {
        isStarted = false
        await leave(id, deps, async (userIds) => {
          publisher.announceUsers(userIds)
          await publisher.flush()
        })
      }
      await publisher.close()
    },
  }
}

async function register(id: string, { db, signals }: ClusterDeps): Promise<void> {
  try {
    await store.insertNode(db, id, VERSION)
  } catch (error) {
    // The next beat tries again.
    if (!signals) throw error
  }
}

/** Listens, and reports that this process lives, at intervals. */
function startTimers(
  id: string,
  deps: ClusterDeps,
  neighbour: Neighbour,
  { receiver, publisher }: { receiver: Receiver; publisher: Publisher },
): NodeJS.Timeout[] {
  const { poll_ms, beat_seconds } = deps.config.cluster
  const beat = createBeat(id, { ...deps, neighbour, tell: publisher.announceUsers })
  return [
    every(poll_ms, () => receiver.listen(neighbour), receiver.expect),
    every(beat_seconds * 1000, async () => {
      publisher.retry()
      await beat()
      receiver.recount()
    }),
  ]
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

/** Reads what the other processes have sent, and counts them. */
function createReceiver(
  id: string,
  { db, signals, config, log, metrics, reload }: ClusterDeps & { reload: (request: string) => Promise<void> },
) {
  const { look, recount, forget } = createLook(db, id)
  let others: ReadonlySet<string> = new Set()
  // Not a time: a busy event loop is no failure of the database.
  let intervals = 0
  let company_until = 0
  let looked_at = performance.now()
  const fail = warnOnce((error: unknown) => log.warn('Other processes cannot be heard', { cause: causeText(error) }))

  async function lookAround(neighbour: Neighbour): Promise<void> {
    // Signals of this time may be deleted already.
    if (performance.now() - looked_at > MISSED_MS) forget()
    looked_at = performance.now()
    const found = await look()
    if (found) others = new Set(found.others)
    if (found?.isFirst || others.size > 0) company_until = performance.now() + COMPANY_MS
    if (found?.isFirst) await neighbour.renew()
    if (!found || found.bodies.length === 0) return
    const news = found.bodies.map((body) => JSON.parse(body) as Signal)
    // Not awaited: events do not wait for it. A failed answer is asked for again.
    for (const { reload_request } of news) if (reload_request) reload(reload_request).catch(() => {})
    await handleSignals(news, neighbour)
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
    /** This process may have removed others. */
    recount,

    async listen(neighbour: Neighbour): Promise<void> {
      const started = performance.now()
      try {
        await lookAround(neighbour)
        intervals = 0
        metrics.polled((performance.now() - started) / 1000)
        fail.reset()
      } catch (error) {
        // What was missed is unknown.
        forget()
        if (signals) others = new Set()
        fail(error)
      }
    },
  }
}

async function handleSignals(signals: Signal[], neighbour: Neighbour): Promise<void> {
  neighbour.reconsider(signals.flatMap((signal) => signal.user_ids))
  await neighbour.receive(signals.flatMap((signal) => signal.events))
}
