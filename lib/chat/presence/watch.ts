import type { Log } from '../../context.ts'
import { toInstant } from '../../core/time.ts'
import type { Hub } from '../../live/hub.ts'
import type { Database } from '../../storage/database.ts'
import type { Kv } from '../../storage/kv.ts'
import type { Micros } from '../../storage/sql.ts'
import type { Presence } from '../conversations/schema.ts'
import { createAudience } from './audience.ts'
import { createHeartbeats, type Heartbeats } from './heartbeats.ts'
import { createPublishing } from './publishing.ts'
import { judge } from './rules.ts'
import { createVisits, type Visits } from './visits.ts'

/** The presence of users, as this process knows it. */
export type PresenceWatch = ReturnType<typeof createPresenceWatch>

/**
 * Keeps the presence of users, and publishes changes to the conversations that they are in.
 *
 * @param deps.broadcast_participants a conversation with more participants gets no presence events
 */
export function createPresenceWatch(deps: {
  db: Database
  kv: Kv
  hub: Hub
  log: Log
  now: () => Micros
  broadcast_participants: number
}) {
  const { hub, log, now } = deps
  const heartbeats = createHeartbeats(deps.kv)
  const audience = createAudience(deps)
  const publishing = createPublishing({ hub, log, audience, findAll: findAllAfterStoring })
  const visits = createVisits(now, publishing.add)

  function findAll(userIds: readonly string[]): Promise<Map<string, Presence>> {
    return lookUp(userIds, { heartbeats, visits, now })
  }

  async function findAllAfterStoring(userIds: readonly string[]): Promise<Map<string, Presence>> {
    await heartbeats.seen(visits.takeSeen())
    return findAll(userIds)
  }

  const find = async (userId: string): Promise<Presence> => (await findAll([userId])).get(userId)!

  return {
    /** The presence of each of these users. */
    findAll,
    find,

    /** Publishes the status of a new participant to its conversation. */
    async introduce(conversationId: string, userId: string): Promise<void> {
      if (!(await audience.isSmall(conversationId))) return
      const payload = { user_id: userId, ...(await find(userId)) }
      hub.publishEphemeral(conversationId, { type: 'presence.update', payload })
    },

    /** Sets the status of a user; without a stream it is valid for a minute. */
    async heartbeat(userId: string, status: Presence['status']): Promise<void> {
      await heartbeats.set(userId, status, now())
      publishing.add(userId)
    },

    /** A stream of the user was opened, or the last one was closed. A recently set status stays valid. */
    streamsChanged: (userId: string): void => visits.count(userId, hub.countStreams(userId)),

    /** Publishes the users whose status has expired, and all changes so far. */
    async sweep(): Promise<void> {
      visits.endDue()
      for (const userId of publishing.publishedUserIds()) if (!visits.find(userId)) publishing.add(userId)
      await publishing.flush()
    },

    /** Publishes no further changes. */
    close(): Promise<void> {
      visits.close()
      return publishing.close()
    },
  }
}

/** What is known of users. */
interface Sources {
  heartbeats: Heartbeats
  visits: Visits
  now: () => Micros
}

async function lookUp(userIds: readonly string[], { heartbeats, visits, now }: Sources) {
  const stored = await heartbeats.findAll(userIds)
  const at = now()
  const presences = new Map<string, Presence>()
  for (const userId of userIds) {
    const { status, last_seen_at } = judge([stored.get(userId) ?? {}, visits.find(userId) ?? {}], at)
    presences.set(userId, { status, ...(last_seen_at !== undefined && { last_seen_at: toInstant(last_seen_at) }) })
  }
  return presences
}
