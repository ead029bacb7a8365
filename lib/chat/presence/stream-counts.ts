import type { Cluster } from '../../cluster/cluster.ts'
import type { Signal } from '../../cluster/signals.ts'
import {
  countStreams,
  type Others,
  type StreamCounts,
  takeStalled,
  updateCounts,
} from '../../cluster/store-presence.ts'
import { insertSignal } from '../../cluster/store-signals.ts'
import { createCoalescer } from '../../core/scheduling/coalesce.ts'
import type { Slots } from '../../core/scheduling/slots.ts'
import { SECOND } from '../../core/units.ts'
import type { Micros } from '../../storage/sql.ts'

/** How long changes are gathered: another process counts a closed stream for this time and that of a statement. */
const GATHER_MS = 20

/** The streams of a user here. */
export interface OwnStreams {
  streams: number
  /** When the oldest one whose client reads nothing was opened. */
  stalled_since: Micros | undefined
}

interface StreamCountsDeps {
  cluster: Cluster
  now: () => Micros
  /** After so long without a report a process counts as dead. */
  dead_seconds: number
  ownStreams: (userId: string) => OwnStreams
  /** What is stored of users is stored one after another: an older number must not be stored behind a newer one. */
  inOrder: Slots<'users'>['run']
}

/** How many streams users have at the other processes, and what this one lets them know of its own. */
export type StreamCountsShared = ReturnType<typeof createStreamCounts>

export function createStreamCounts({ cluster, now, dead_seconds, ownStreams, inOrder }: StreamCountsDeps) {
  const { db, id, usesSignalFile } = cluster
  const others = { node_id: id, deadAfter: dead_seconds * SECOND }
  const unstored = new Set<string>()
  const gathering = createCoalescer(GATHER_MS, (userIds) => inOrder('users', () => store(userIds)))

  async function store(userIds: string[]): Promise<void> {
    for (const userId of userIds) unstored.delete(userId)
    try {
      const at = now()
      await updateCounts(
        db,
        id,
        userIds.map((userId) => toCounts(userId, ownStreams(userId), at)),
      )
    } catch {
      for (const userId of userIds) unstored.add(userId)
    }
  }

  return {
    /** A stream of the user has opened, stalled or closed. The change of presence stores a first stream. */
    changed: (userId: string): void => void (cluster.isShared && gathering.add(userId)),

    /** Stores again what has failed. */
    retry: (): void => unstored.forEach(gathering.add),

    /** The number of open streams of a user at other processes. A file of signals that fails makes a process alone. */
    async countRemote(userId: string): Promise<number> {
      if (cluster.isSingleNode()) return 0
      const count = countStreams(db, others, userId)
      return usesSignalFile ? count.catch(() => 0) : count
    },

    /**
     * Has another process end the user's oldest stream whose client reads nothing, if it is older than `age`.
     *
     * @returns whether there is one: it no longer counts
     */
    async takeStalled(userId: string, age: Micros): Promise<boolean> {
      if (cluster.isSingleNode()) return false
      const stalled = takeStalledStream(cluster, others, userId, age)
      return usesSignalFile ? stalled.catch(() => false) : stalled
    },

    close: gathering.close,
  }
}

function toCounts(user_id: string, { streams, stalled_since }: OwnStreams, now: Micros): StreamCounts {
  return { user_id, streams, stalled_age: stalled_since === undefined ? null : now - stalled_since }
}

function takeStalledStream({ db, id }: Cluster, others: Others, user_id: string, age: Micros): Promise<boolean> {
  return db.write(async (tx) => {
    const node_id = await takeStalled(tx, others, user_id, age)
    if (node_id === undefined) return false
    const signal: Signal = { events: [], user_ids: [], stalled_stream: { node_id, user_id } }
    await insertSignal(tx, id, JSON.stringify(signal))
    return true
  })
}
