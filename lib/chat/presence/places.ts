import type { Cluster } from '../../cluster/cluster.ts'
import type { Hub } from '../../live/hub/hub.ts'
import type { Micros } from '../../storage/sql.ts'
import type { StreamCountsShared } from './stream-counts.ts'

interface PlacesDeps {
  hub: Hub
  cluster: Cluster
  counts: StreamCountsShared
  now: () => Micros
}

/** The places that a user has for open streams, at all processes together. */
export function createPlaces({ hub, cluster, counts, now }: PlacesDeps) {
  /** At the limit: what serves no client gives its place to the new stream. */
  async function makeRoom(userId: string): Promise<void> {
    await cluster.removeEnded()
    if (!hub.isFull(userId, await counts.countRemote(userId))) return
    const own = hub.stalled.oldestOf(userId)
    // The oldest of all: one of another process only if it is older.
    const isTaken = await counts.takeStalled(userId, own ? now() - own.since : 0)
    if (!isTaken) hub.stalled.endOldest(userId)
  }

  return {
    /** The number of open streams of a user at other processes. */
    countRemote: counts.countRemote,

    /**
     * Takes a place for a stream of a user.
     *
     * @throws ChatError `unavailable` while draining, `too_many_streams` at the limit of the user
     */
    async takePlace(userId: string): Promise<void> {
      let remoteStreams = await counts.countRemote(userId)
      if (hub.isFull(userId, remoteStreams)) {
        await makeRoom(userId)
        remoteStreams = await counts.countRemote(userId)
      }
      hub.reserve(userId, remoteStreams)
    },

    /** Another process has given the place of a stream here to a new one. */
    endStalled(userId: string): void {
      // Its client may read on by now: then the other process learns that it still counts.
      if (!hub.stalled.endOldest(userId)) counts.changed(userId)
    },
  }
}
