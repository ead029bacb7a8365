import type { Log } from '../../context.ts'
import { causeText } from '../../core/errors.ts'
import { SECOND, toInstant } from '../../core/time.ts'
import type { Hub } from '../../live/hub.ts'
import type { Database } from '../../storage/database.ts'
import type { Kv } from '../../storage/kv.ts'
import type { Micros } from '../../storage/sql.ts'
import type { Presence } from '../conversations/schema.ts'
import { listMemberships } from '../conversations/store.ts'

/** Who has not been heard of for so long is offline, unless a stream is open. */
const LAPSE_SECONDS = 60

/** How long it is known when somebody was there last. */
const REMEMBERED_SECONDS = 30 * 24 * 60 * 60

/** How long a store may take to say how somebody is. */
const KV_TIMEOUT_MS = 1_000

/** What a user said last, and until when it holds without a stream. */
interface Said {
  status: Presence['status']
  last_seen_at: Micros
  until: Micros
}

/** Who is there, as this process knows it. */
export type PresenceWatch = ReturnType<typeof createPresenceWatch>

/** Keeps track of who is there, and tells those who share a conversation with them when it changes. */
export function createPresenceWatch(deps: { db: Database; kv: Kv; hub: Hub; log: Log; now: () => Micros }) {
  const { db, kv, hub, log, now } = deps
  /** What others were told last, of everybody who was not offline then. */
  const told = new Map<string, Presence['status']>()
  const keyOf = (userId: string) => `presence/${userId}`

  /** How a user is. A store that fails, or does not answer, makes nobody wait: then only streams count. */
  async function find(userId: string): Promise<Presence> {
    const said = await inTime(kv.get<Said>(keyOf(userId))).catch(() => undefined)
    const isHere = hub.countStreams(userId) > 0
    const status = isHere ? (said?.status ?? 'online') : said && said.until > now() ? said.status : 'offline'
    return { status, ...(said && { last_seen_at: toInstant(said.last_seen_at) }) }
  }

  function say(userId: string, said: Omit<Said, 'last_seen_at'>): Promise<void> {
    return kv.set(keyOf(userId), { ...said, last_seen_at: now() }, REMEMBERED_SECONDS)
  }

  /** Tells others what has become of a user, if it is something new. */
  async function tell(userId: string): Promise<void> {
    const presence = await find(userId)
    if ((told.get(userId) ?? 'offline') === presence.status) return
    if (presence.status === 'offline') told.delete(userId)
    else told.set(userId, presence.status)
    const event = { type: 'presence.update' as const, payload: { user_id: userId, ...presence } }
    const places = await listMemberships(db, userId)
    // Else a newer status was sent meanwhile.
    if ((told.get(userId) ?? 'offline') === presence.status)
      hub.publishAbout(new Set(places.map((place) => place.conversation_id)), event)
  }

  return {
    find,

    /** Tells a conversation how somebody is who has just come in. */
    async introduce(conversationId: string, userId: string): Promise<void> {
      const payload = { user_id: userId, ...(await find(userId)) }
      hub.publishEphemeral(conversationId, { type: 'presence.update', payload })
    },

    /** The user says how it is; without a stream that holds for a minute. */
    async heartbeat(userId: string, status: Presence['status']): Promise<void> {
      await say(userId, { status, until: now() + LAPSE_SECONDS * SECOND })
      await tell(userId)
    },

    /** A stream of the user was opened, or the last one has closed. What the user said lately still holds. */
    async streamsChanged(userId: string): Promise<void> {
      try {
        const isHere = hub.countStreams(userId) > 0
        if (!isHere && !told.has(userId)) return
        const said = await kv.get<Said>(keyOf(userId))
        const until = said?.until ?? 0
        const comes = isHere && !told.has(userId) && until <= now()
        await say(userId, { status: comes ? 'online' : (said?.status ?? 'online'), until })
        await tell(userId)
      } catch (error) {
        log.warn('Presence could not be kept', { cause: causeText(error) })
      }
    },

    /** Tells of everybody whose presence has lapsed. */
    async sweep(): Promise<void> {
      for (const userId of [...told.keys()]) await tell(userId)
    },
  }
}

/** @throws Error when it takes longer than {@link KV_TIMEOUT_MS} */
function inTime<T>(answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('The store does not answer')), KV_TIMEOUT_MS)
    answer.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
