import { toInstant } from '../../core/time.ts'
import type { Micros } from '../../storage/sql.ts'
import type { Presence } from '../conversations/schema.ts'
import type { Heartbeats } from './heartbeats.ts'
import type { LocalSessions } from './local-sessions.ts'
import type { OwnLastSeen, RemotePresence } from './remote-presence.ts'
import { isHere, type LastSeen, presenceFrom } from './rules.ts'
import type { OwnStreams, StreamCountsShared } from './stream-counts.ts'

/** The presence of users, from all that is known of them. */
export type Lookup = ReturnType<typeof createLookup>

interface LookupDeps {
  heartbeats: Heartbeats
  localSessions: LocalSessions
  remotePresence: RemotePresence
  ownStreams: (userId: string) => OwnStreams
  counts: StreamCountsShared
  now: () => Micros
}

export function createLookup({ heartbeats, localSessions, remotePresence, ownStreams, counts, now }: LookupDeps) {
  async function findLastSeen(
    userIds: readonly string[],
    others: ReturnType<RemotePresence['find']>,
  ): Promise<Map<string, LastSeen[]>> {
    const [stored, remoteByUser] = await Promise.all([heartbeats.findAll(userIds), others])
    const lastSeen = new Map<string, LastSeen[]>()
    for (const userId of userIds) {
      const times = [stored.get(userId), localSessions.find(userId)].filter((time) => time !== undefined)
      lastSeen.set(userId, [...times, ...(remoteByUser.get(userId) ?? [])])
    }
    return lastSeen
  }

  async function findAll(userIds: readonly string[]): Promise<Map<string, Presence>> {
    const presences = new Map<string, Presence>()
    const at = now()
    // A database that fails knows nothing, as a store of heartbeats does.
    const others = remotePresence.find(userIds).catch(() => new Map<string, LastSeen[]>())
    for (const [userId, lastSeen] of await findLastSeen(userIds, others))
      presences.set(userId, toPresence(lastSeen, at))
    return presences
  }

  return {
    /** Whether a user has an open stream at any process. Another process that is not reached counts as one without. */
    hasStream: async (userId: string): Promise<boolean> =>
      ownStreams(userId).streams > 0 || (await counts.countRemote(userId).catch(() => 0)) > 0,

    findAll,
    find: async (userId: string): Promise<Presence> => (await findAll([userId])).get(userId)!,

    /**
     * The presences of users, each with whether the user has an open stream: then the status ends by an event only.
     *
     * @throws the error of the storage: what is published stays until the user changes
     */
    async findWithStreams(userIds: readonly string[]): Promise<Map<string, { presence: Presence; is_here: boolean }>> {
      const presences = new Map<string, { presence: Presence; is_here: boolean }>()
      const at = now()
      for (const [userId, lastSeen] of await findLastSeen(userIds, remotePresence.find(userIds)))
        presences.set(userId, { presence: toPresence(lastSeen, at), is_here: isHere(lastSeen) })
      return presences
    },

    /** What this process knows of users. */
    async findOwn(userIds: readonly string[]): Promise<Map<string, OwnLastSeen>> {
      const stored = await heartbeats.findAll(userIds)
      return new Map(
        userIds.map((userId) => [
          userId,
          { ...stored.get(userId), ...localSessions.find(userId), ...ownStreams(userId) },
        ]),
      )
    },
  }
}

function toPresence(lastSeen: LastSeen[], at: Micros): Presence {
  const { status, last_seen_at } = presenceFrom(lastSeen, at)
  return { status, ...(last_seen_at !== undefined && { last_seen_at: toInstant(last_seen_at) }) }
}
