import type { Clock } from '../core/clock.ts'
import { createUptimeGate } from '../core/scheduling/uptime-gate.ts'
import { monotonicMicros } from '../core/time.ts'
import { DAY, MINUTE } from '../core/units.ts'
import { BUILD } from '../core/version.ts'
import type { PlaceState } from '../files/place.ts'
import type { Database, Queries } from '../storage/database.ts'
import { announceUsers } from './announce-users.ts'
import { ownPlace } from './process-place.ts'
import type { PeerHandler } from './receiver.ts'
import * as store from './store.ts'
import { deleteUnseen } from './store-presence.ts'

/** How long the users of a stopped process are kept, in microseconds; they count for a part of it. */
const LEFT_KEPT = MINUTE

/**
 * How long other processes can read when a user was last seen, in microseconds. A shorter time would take `last_seen_at`
 * from users after a night; without a limit, rows of all visitors stay as long as the process runs.
 */
const SEEN_KEPT = DAY

/** After this many beats older rows are deleted: it reads all of the process, and all that stopped ones left behind. */
const HEARTBEATS_BETWEEN_DELETIONS = 30

interface HeartbeatDeps {
  db: Database
  clock: Clock
  config: { cluster: { beat_seconds: number; dead_seconds: number; instance: string } }
  peerHandler: Pick<PeerHandler, 'countStreams' | 'unheardFor' | 'reconsider' | 'renew'>
  /** What this process has last found of the storage of files. */
  filesState: () => PlaceState | undefined
  /** Writes what this process notes of itself to its row. */
  noteDetails: () => Promise<void>
}

/** @returns a function that reports that the process lives, and removes the processes that no longer do */
export function createNodeHeartbeat(
  id: string,
  { db, clock, config, peerHandler, filesState, noteDetails }: HeartbeatDeps,
): () => Promise<void> {
  const { beat_seconds, dead_seconds } = config.cluster
  const isSteady = createUptimeGate({ dead_after_ms: dead_seconds * 1000, interval_ms: beat_seconds * 1000 })
  let mustRenew = false
  let heartbeats = 0

  const removal = {
    remembered: LEFT_KEPT,
    announce: (tx: Queries, userIds: string[]) => announceUsers(tx, id, userIds),
  }

  return async () => {
    const hasRow = await report()
    const mayRemove = isSteady()
    mustRenew ||= !hasRow
    // First: what a process without a row knows of users does not count, and may be deleted.
    if (!hasRow) await store.insertNode(db, id, BUILD, ownPlace(config.cluster.instance))
    if (!hasRow) await noteDetails()
    if (mustRenew) await peerHandler.renew()
    mustRenew = false
    if (mayRemove) await remove(store.removeDead(db, { ...removal, deadAfter: dead_seconds * 1_000_000 }))
    if (++heartbeats % HEARTBEATS_BETWEEN_DELETIONS > 0) return
    // Their ages are the database's, whose clock may have stepped.
    if (clock.before(0) === undefined) return
    await deleteUnseen(db, id, SEEN_KEPT)
    if (mayRemove) await remove(store.deleteLeft(db, removal))
  }

  /** @returns whether the process had its row. Where the answer shows the time, the clock follows it. */
  async function report(): Promise<boolean> {
    const began = monotonicMicros()
    const difference = clock.difference()
    const clock_difference = difference === undefined ? undefined : Math.round(difference)
    const { has_row, at } = await store.recordHeartbeat(db, id, {
      streams: peerHandler.countStreams(),
      unheard_ms: peerHandler.unheardFor(),
      files: filesState(),
      clock_difference,
    })
    if (at !== undefined) clock.learn(began, at, monotonicMicros())
    return has_row
  }

  /** Publishes the presence of users whose process was removed. */
  async function remove(removed: Promise<string[]>): Promise<void> {
    // If it fails it may be committed all the same: then only the others know of the users.
    mustRenew = true
    peerHandler.reconsider(await removed)
    mustRenew = false
  }
}
