import { setTimeout as sleep } from 'node:timers/promises'
import type { LiveConfig } from '../config/live.ts'
import type { Log } from '../context.ts'
import type { Clock } from '../core/clock.ts'
import { causeText } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import { singleFlight, warnOnce } from '../core/scheduling/once.ts'
import { SECOND } from '../core/units.ts'
import { BUILD } from '../core/version.ts'
import type { PlaceState } from '../files/place.ts'
import type { Database } from '../storage/database.ts'
import type { SignalsFile } from '../storage/sqlite/signals-file.ts'
import { announceUsers } from './announce-users.ts'
import { createClockCheck } from './clock-check.ts'
import { createDetails, type NodeDetails, toDetails } from './details.ts'
import { removeEnded } from './ended.ts'
import { createNodeHeartbeat } from './heartbeat.ts'
import { ownPlace } from './process-place.ts'
import { createPublisher, type Publisher, type PublisherDeps } from './publisher.ts'
import { createReceiver, handleSignals, type PeerHandler } from './receiver.ts'
import { createReloadAnswer } from './reload-requests.ts'
import { anotherNodePolls, insertNode, listNodes, removeNode } from './store.ts'
import { deleteSignals } from './store-signals.ts'

/** How long signals are kept, in microseconds: a process that was away for longer checks everything. */
const SIGNALS_KEPT = 10 * SECOND

/** How long the look of another process takes, at most as a rule. */
const LOOK_MS = 50

/** The interval at which older ones are deleted. */
const PRUNE_MS = 5_000

/** How many rows of processes are read. */
const MAX_NODES = 1_000

type Receiver = ReturnType<typeof createReceiver>

/** This process among those that share the database. */
export type Cluster = ReturnType<typeof createCluster>

interface ClusterDeps extends PublisherDeps {
  /** Where the processes of a SQLite file meet. Its failure harms nothing: a process is then alone. */
  signals?: SignalsFile | undefined
  clock: Clock
  /** What this process has last found of the storage of files. */
  filesState: () => PlaceState | undefined
  settings: Pick<LiveConfig, 'current'>
  /** Whether the host of this process reviews messages. */
  reviews: boolean
}

/** Makes a process known to the others that share the database, and passes ephemeral events on. */
export function createCluster(given: ClusterDeps) {
  const { signals, clock } = given
  const id = newId()
  const db: Database = signals ?? given.db
  const details = createDetails(id, { ...given, db, main: given.db })
  const deps = { ...given, db, noteDetails: details.write }
  const usesSignalFile = signals !== undefined
  // A database in memory has one process.
  const isShared = usesSignalFile || db.dialect === 'postgresql'
  const repeated: Repeated[] = []
  let peerHandler: PeerHandler | undefined
  let started_at: number | undefined
  const reloads = createReloadAnswer(id, db)
  const clockCheck = createClockCheck(id, deps)
  const receiver = createReceiver(id, { ...deps, usesSignalFile, reload: reloads.handle })
  const publisher = createPublisher(id, receiver, deps)

  /** What the running processes note of themselves; nothing for a process that is alone. */
  async function listDetails(): Promise<NodeDetails[]> {
    if (!isShared || !peerHandler) return []
    const rows = await listNodes(db, given.config.cluster.dead_seconds * SECOND, MAX_NODES)
    return rows.flatMap(({ details }) => toDetails(details) ?? [])
  }

  return {
    id,
    db,
    isShared,
    usesSignalFile,
    details,
    isClockWrong: clockCheck.isWrong,
    /** Whether processes have met: the first that serves creates the file of signals. */
    isInitialised: () => signals?.exists() ?? isShared,
    isSingleNode: receiver.isSingleNode,
    /** Whether other processes run, or have run recently: their users may still count. */
    hasPeers: () => peerHandler !== undefined && receiver.hasPeers(),
    ...createPollState(id, db, receiver, () => peerHandler !== undefined && !usesSignalFile),
    countNodes: receiver.countNodes,
    /** Whether a process is beside whose program knows fewer migrations. */
    async hasOlderNode(schema: number): Promise<boolean> {
      return (await listDetails()).some((node) => (node.schema ?? 0) < schema)
    },
    /** Whether a process is beside whose host reviews messages. */
    hasReviewer: async () => (await listDetails()).some(({ reviews }) => reviews),
    /** When this process began to serve; `undefined` for one that runs a command beside the service. */
    startedAt: () => started_at,

    onReload: reloads.onReload,
    announce: publisher.announce,
    announceUsers: publisher.announceUsers,

    /**
     * Registers the process, and begins to receive signals of the others. When it resolves, they have had the time to see
     * this process.
     */
    async start(self: PeerHandler): Promise<void> {
      started_at ??= clock.now()
      if (!isShared || peerHandler) return
      await register(id, deps)
      peerHandler = self
      // Removes an earlier run that was killed. Its users are published with the other users of ended processes.
      await removeEnded(id, deps)
      await receiver.listen(self)
      publisher.start((signal) => handleSignals([signal], self))
      repeated.push(...startRepeated(id, deps, self, { receiver, publisher, checkClock: clockCheck.check }))
      // One that was alone passes nothing on until its next look: readers of this process would miss it.
      if (!receiver.isSingleNode()) await sleep(given.config.cluster.poll_ms + LOOK_MS)
    },

    /** Removes the processes of this machine that have ended. It never rejects. */
    removeEnded: async (): Promise<void> => peerHandler?.reconsider(await removeEnded(id, deps)),

    /** Removes the process at once, and signals this to the others. */
    async stop(): Promise<void> {
      await Promise.all(repeated.splice(0).map(({ stop }) => stop()))
      if (peerHandler) {
        peerHandler = undefined
        await leave(id, deps)
        await publisher.flush()
      }
      await publisher.close()
    },
  }
}

/** Whether this process reads the signals of others. @param isExpected false for a process that need not */
function createPollState(id: string, db: Database, receiver: Receiver, isExpected: () => boolean) {
  return {
    /** Whether the signals of others could not be read for a while. */
    isLate: () => isExpected() && receiver.isLate(),
    /** How long ago they were last read, in milliseconds. */
    age: () => (isExpected() ? receiver.age() : 0),
    /** Whether another process reads what others send while this one has not for so long, in milliseconds. */
    anotherNodePolls: (age_ms: number): Promise<boolean> => anotherNodePolls(db, id, age_ms),
  }
}

type Registering = ClusterDeps & { noteDetails: () => Promise<void> }

async function register(id: string, { db, signals, config, noteDetails }: Registering): Promise<void> {
  try {
    await insertNode(db, id, BUILD, ownPlace(config.cluster.instance))
    await noteDetails()
  } catch (error) {
    // The next heartbeat tries again.
    if (!signals) throw error
  }
}

/** Listens, and reports that this process lives, at intervals. */
function startRepeated(
  id: string,
  deps: Registering,
  peerHandler: PeerHandler,
  { receiver, publisher, checkClock }: { receiver: Receiver; publisher: Publisher; checkClock: () => Promise<void> },
): Repeated[] {
  const { poll_ms, beat_seconds } = deps.config.cluster
  const heartbeat = createNodeHeartbeat(id, { ...deps, peerHandler })
  const report = warned(deps.log, 'Other processes cannot be told that this one runs', heartbeat)
  const compare = warned(deps.log, 'The clocks of other processes cannot be read', checkClock)
  const prune = warned(deps.log, 'Old signals cannot be deleted', () => deleteSignals(deps.db, SIGNALS_KEPT))
  return [
    every(poll_ms, () => receiver.listen(peerHandler), receiver.expect),
    every(beat_seconds * 1000, async () => {
      publisher.retry()
      await report()
      await compare()
      receiver.recount()
    }),
    // Apart: each look reads all signals that are left, also while the heartbeat fails.
    every(PRUNE_MS, prune),
  ]
}

interface Repeated {
  /** Starts no further run, and waits for the one in progress: a heartbeat would add the row of the process again. */
  stop(): Promise<void>
}

/** Makes a failure of `work` a line in the log, one for several in a row: the next run tries again. */
function warned(log: Log, message: string, work: () => Promise<void>): () => Promise<void> {
  const fail = warnOnce((error: unknown) => log.warn(message, { cause: causeText(error) }))
  return async () => {
    try {
      await work()
      fail.reset()
    } catch (error) {
      fail(error)
    }
  }
}

/** Runs `work`, which never fails, at intervals, once at a time. @param onTick is called at each interval */
function every(ms: number, work: () => Promise<void>, onTick = () => {}): Repeated {
  const run = singleFlight(work)
  const tick = () => {
    onTick()
    void run()
  }
  const timer = setInterval(tick, ms).unref()
  return {
    async stop() {
      clearInterval(timer)
      await run.current()
    },
  }
}

/** Removes the row of a process that stops, and lets the others know of its users. */
async function leave(id: string, { db, log }: ClusterDeps): Promise<void> {
  try {
    // In one transaction: should the process be killed now, no other one would look for these users.
    await removeNode(db, id, (tx, userIds) => announceUsers(tx, id, userIds))
  } catch (error) {
    log.warn('Other processes could not be told of the stop', { cause: causeText(error) })
  }
}
