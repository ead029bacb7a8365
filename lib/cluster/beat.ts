import { createSteadiness } from '../core/steadiness.ts'
import { VERSION } from '../core/version.ts'
import type { Database, Queries } from '../storage/database.ts'
import type { Neighbour } from './receiver.ts'
import { toUserSignals } from './signals.ts'
import * as store from './store.ts'
import { deleteUnseen } from './store-presence.ts'
import { insertSignal } from './store-signals.ts'

/** How long the users of a stopped process are kept, in microseconds; they count for a part of it. */
const LEFT_KEPT = 60_000_000

/**
 * How long other processes can read when a user was last seen, in microseconds. A shorter time would take `last_seen_at`
 * from users who were away for a night; without a limit, rows of all visitors stay as long as the process runs.
 */
const SEEN_KEPT = 24 * 60 * 60 * 1_000_000

/** After so many beats older rows are deleted: it reads all of the process, and all that stopped ones left behind. */
const BEATS_BETWEEN_DELETIONS = 30

interface BeatDeps {
  db: Database
  config: { cluster: { beat_seconds: number; dead_seconds: number } }
  neighbour: Pick<Neighbour, 'countStreams' | 'reconsider' | 'renew'>
}

/** @returns a function that reports that the process lives, and removes the processes that no longer do */
export function createBeat(id: string, { db, config, neighbour }: BeatDeps): () => Promise<void> {
  const { beat_seconds, dead_seconds } = config.cluster
  const isSteady = createSteadiness({ silence_ms: dead_seconds * 1000, interval_ms: beat_seconds * 1000 })
  let mustRenew = false
  let beats = 0

  const removal = {
    remembered: LEFT_KEPT,
    async tell(tx: Queries, userIds: string[]): Promise<void> {
      for (const { body } of toUserSignals(userIds)) await insertSignal(tx, id, body)
    },
  }

  return async () => {
    const hasRow = await store.beat(db, id, neighbour.countStreams())
    const mayRemove = isSteady()
    if (!hasRow) {
      // First: what a process without a row knows of users does not count, and may be deleted.
      await store.insertNode(db, id, VERSION)
      mustRenew = true
    }
    if (mustRenew) await neighbour.renew()
    mustRenew = false
    if (mayRemove) neighbour.reconsider(await store.removeDead(db, { ...removal, silence: dead_seconds * 1_000_000 }))
    if (++beats % BEATS_BETWEEN_DELETIONS > 0) return
    await deleteUnseen(db, id, SEEN_KEPT)
    if (mayRemove) neighbour.reconsider(await store.deleteLeft(db, removal))
  }
}
