import { toInstant } from '../../core/time.ts'
import type { Micros } from '../../storage/sql.ts'
import type { Presence } from '../conversations/schema.ts'
import type { Elsewhere, OwnSighting } from './elsewhere.ts'
import type { Heartbeats } from './heartbeats.ts'
import { isHere, judge, type Sighting } from './rules.ts'
import type { OwnStreams, StreamCountsShared } from './stream-counts.ts'
import type { Visits } from './visits.ts'

/** The presence of users, from all that is known of them. */
export type Lookup = ReturnType<typeof createLookup>

interface LookupDeps {
  heartbeats: Heartbeats
  visits: Visits
  elsewhere: Elsewhere
  ownStreams: (userId: string) => OwnStreams
  counts: StreamCountsShared
  now: () => Micros
}

export function createLookup({ heartbeats, visits, elsewhere, ownStreams, counts, now }: LookupDeps) {
  async function findSightings(
    userIds: readonly string[],
    others: ReturnType<Elsewhere['find']>,
  ): Promise<Map<string, Sighting[]>> {
    const [stored, elsewhereOf] = await Promise.all([heartbeats.findAll(userIds), others])
    const sightings = new Map<string, Sighting[]>()
    for (const userId of userIds) {
      const known = [stored.get(userId), visits.find(userId)].filter((each) => each !== undefined)
      sightings.set(userId, [...known, ...(elsewhereOf.get(userId) ?? [])])
    }
    return sightings
  }

  async function findAll(userIds: readonly string[]): Promise<Map<string, Presence>> {
    const presences = new Map<string, Presence>()
    const at = now()
    // A database that fails knows nothing, as a store of heartbeats does.
    const others = elsewhere.find(userIds).catch(() => new Map<string, Sighting[]>())
    for (const [userId, sightings] of await findSightings(userIds, others))
      presences.set(userId, toPresence(sightings, at))
    return presences
  }

  return {
    /** Whether a user has an open stream at any process. Another process that is not reached counts as one without. */
    hasStream: async (userId: string): Promise<boolean> =>
      ownStreams(userId).streams > 0 || (await counts.countElsewhere(userId).catch(() => 0)) > 0,

    findAll,
    find: async (userId: string): Promise<Presence> => (await findAll([userId])).get(userId)!,

    /**
     * The presences of users, each with whether the user has an open stream: then the status ends by an event only.
     *
     * @throws the error of the storage: what is published stays until the user changes
     */
    async findWithStreams(userIds: readonly string[]): Promise<Map<string, { presence: Presence; is_here: boolean }>> {
      const found = new Map<string, { presence: Presence; is_here: boolean }>()
      const at = now()
      for (const [userId, sightings] of await findSightings(userIds, elsewhere.find(userIds)))
        found.set(userId, { presence: toPresence(sightings, at), is_here: isHere(sightings) })
      return found
    },

    /** What this process knows of users. */
    async findOwn(userIds: readonly string[]): Promise<Map<string, OwnSighting>> {
      const stored = await heartbeats.findAll(userIds)
      return new Map(
        userIds.map((userId) => [userId, { ...stored.get(userId), ...visits.find(userId), ...ownStreams(userId) }]),
      )
    },
  }
}

function toPresence(sightings: Sighting[], at: Micros): Presence {
  const { status, last_seen_at } = judge(sightings, at)
  return { status, ...(last_seen_at !== undefined && { last_seen_at: toInstant(last_seen_at) }) }
}
