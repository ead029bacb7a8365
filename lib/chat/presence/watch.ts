import type { Log } from '../../context.ts'
import { withDeadline } from '../../core/deadline.ts'
import { causeText } from '../../core/errors.ts'
import { SECOND, toInstant } from '../../core/time.ts'
import type { Hub } from '../../live/hub.ts'
import type { Database } from '../../storage/database.ts'
import type { Kv } from '../../storage/kv.ts'
import type { Micros } from '../../storage/sql.ts'
import type { Presence } from '../conversations/schema.ts'
import { listMemberships } from '../conversations/store.ts'

/** A user without a heartbeat for so long is offline, unless a stream is open. */
const LAPSE_SECONDS = 60

/** How long `last_seen_at` is kept. */
const REMEMBERED_SECONDS = 30 * 24 * 60 * 60

/** How long the key-value store may take to return a heartbeat. */
const KV_TIMEOUT_MS = 1_000

/** The last status that a user has set, and until when it is valid without a stream. */
interface Heartbeat {
  status: Presence['status']
  last_seen_at: Micros
  until: Micros
}

/** The presence of users, as this process knows it. */
export type PresenceWatch = ReturnType<typeof createPresenceWatch>

/** Keeps the presence of users, and publishes changes to the conversations that they are in. */
export function createPresenceWatch(deps: { db: Database; kv: Kv; hub: Hub; log: Log; now: () => Micros }) {
  const { db, hub, log, now } = deps
  const heartbeats = createHeartbeats(deps.kv, now)
  const published = createPublishedStatus()

  async function find(userId: string): Promise<Presence> {
    const last = await heartbeats.findInTime(userId)
    const isHere = hub.countStreams(userId) > 0
    const status = isHere ? (last?.status ?? 'online') : last && last.until > now() ? last.status : 'offline'
    return { status, ...(last && { last_seen_at: toInstant(last.last_seen_at) }) }
  }

  /** Publishes the status of a user, if it has changed. */
  async function publishChange(userId: string): Promise<void> {
    const presence = await find(userId)
    if (published.is(userId, presence.status)) return
    published.set(userId, presence.status)
    const event = { type: 'presence.update' as const, payload: { user_id: userId, ...presence } }
    const memberships = await listMemberships(db, userId)
    // Otherwise a newer status was sent meanwhile.
    if (published.is(userId, presence.status))
      hub.publishAbout(new Set(memberships.map((each) => each.conversation_id)), event)
  }

  return {
    find,

    /** Publishes the status of a new participant to its conversation. */
    async introduce(conversationId: string, userId: string): Promise<void> {
      const payload = { user_id: userId, ...(await find(userId)) }
      hub.publishEphemeral(conversationId, { type: 'presence.update', payload })
    },

    /** Sets the status of a user; without a stream it is valid for a minute. */
    async heartbeat(userId: string, status: Presence['status']): Promise<void> {
      await heartbeats.set(userId, { status, until: now() + LAPSE_SECONDS * SECOND })
      await publishChange(userId)
    },

    /** A stream of the user was opened, or the last one was closed. A recently set status stays valid. */
    async streamsChanged(userId: string): Promise<void> {
      try {
        const isHere = hub.countStreams(userId) > 0
        if (!isHere && published.is(userId, 'offline')) return
        const last = await heartbeats.find(userId)
        const until = last?.until ?? 0
        const isNew = isHere && published.is(userId, 'offline') && until <= now()
        await heartbeats.set(userId, { status: isNew ? 'online' : (last?.status ?? 'online'), until })
        await publishChange(userId)
      } catch (error) {
        log.warn('Presence could not be stored', { cause: causeText(error) })
      }
    },

    /** Publishes the users whose status has expired. */
    async sweep(): Promise<void> {
      for (const userId of published.userIds()) await publishChange(userId)
    },
  }
}

/** The last published status of each user; offline users, the majority, have no entry. */
function createPublishedStatus() {
  const published = new Map<string, Presence['status']>()
  return {
    is: (userId: string, status: Presence['status']) => (published.get(userId) ?? 'offline') === status,
    set(userId: string, status: Presence['status']): void {
      if (status === 'offline') published.delete(userId)
      else published.set(userId, status)
    },
    userIds: () => [...published.keys()],
  }
}

/** The heartbeats of users, in the key-value store. */
function createHeartbeats(kv: Kv, now: () => Micros) {
  const keyOf = (userId: string) => `presence/${userId}`
  const find = (userId: string) => kv.get<Heartbeat>(keyOf(userId))
  return {
    find,
    /** The same; `undefined` when the store fails or does not answer: then only streams count. */
    findInTime: (userId: string) => withDeadline(find(userId), KV_TIMEOUT_MS, undefined).catch(() => undefined),
    set: (userId: string, heartbeat: Omit<Heartbeat, 'last_seen_at'>) =>
      kv.set(keyOf(userId), { ...heartbeat, last_seen_at: now() }, REMEMBERED_SECONDS),
  }
}
