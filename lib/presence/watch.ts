import type { Log } from '../context.ts'
import type { Presence } from '../conversations/schema.ts'
import { listPlaces } from '../conversations/store.ts'
import type { Hub } from '../events/hub.ts'
import { SECOND, toInstant } from '../ids.ts'
import type { Database } from '../storage/database.ts'
import type { Kv } from '../storage/kv.ts'
import type { Micros } from '../storage/sql.ts'

/** Who has not been heard of for so long is offline, unless a stream is open. */
const LAPSE_SECONDS = 60

/** How long it is known when somebody was there last. */
const REMEMBERED_SECONDS = 30 * 24 * 60 * 60

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

  async function find(userId: string): Promise<Presence> {
    const said = await kv.get<Said>(keyOf(userId))
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
    for (const { conversation_id } of await listPlaces(db, userId)) hub.announce(conversation_id, event)
  }

  return {
    find,

    /** The user says how it is; without a stream that holds for a minute. */
    async heartbeat(userId: string, status: Presence['status']): Promise<void> {
      await say(userId, { status, until: now() + LAPSE_SECONDS * SECOND })
      await tell(userId)
    },

    /** The user's first stream was opened, or its last one closed. */
    async streamsChanged(userId: string): Promise<void> {
      try {
        const said = await kv.get<Said>(keyOf(userId))
        const isFirst = hub.countStreams(userId) > 0
        await say(userId, { status: isFirst ? 'online' : (said?.status ?? 'online'), until: said?.until ?? 0 })
        await tell(userId)
      } catch (error) {
        log.warn('Presence could not be kept', { cause: String(error) })
      }
    },

    /** Tells of everybody whose presence has lapsed. */
    async sweep(): Promise<void> {
      for (const userId of [...told.keys()]) await tell(userId)
    },
  }
}
