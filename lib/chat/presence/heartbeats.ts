import { withDeadline } from '../../core/scheduling/deadline.ts'
import type { Kv } from '../../storage/kv.ts'
import type { Micros } from '../../storage/sql.ts'
import type { Presence } from '../conversations/schema.ts'
import { LAPSE, type LastSeen } from './rules.ts'

/** How long `last_seen_at` is kept. */
const REMEMBERED_SECONDS = 30 * 24 * 60 * 60

/** How long the key-value store may take to respond. */
const KV_TIMEOUT_MS = 1_000

/** The last status that a user has set, and until when it is valid without a stream; 0 if the user has set none. */
interface Heartbeat {
  status: Presence['status']
  last_seen_at: Micros
  until: Micros
}

/** The last heartbeats of users, and when they were last seen. */
export interface Heartbeats {
  /** What is known of these users, by id. A store that fails or does not respond knows nothing. */
  findAll(userIds: readonly string[]): Promise<Map<string, LastSeen>>
  /** Stores the status that a user has set now. @throws the error of the store */
  set(userId: string, status: Presence['status'], now: Micros): Promise<void>
  /** Stores that users were seen, each at a time; a store that fails loses it. */
  seen(times: ReadonlyMap<string, Micros>): Promise<void>
}

/** Heartbeats in a key-value store. */
export function createHeartbeats(kv: Kv): Heartbeats {
  const keyOf = (userId: string) => `presence/${userId}`
  const store = (userId: string, heartbeat: Heartbeat) =>
    withDeadline(kv.set(keyOf(userId), heartbeat, REMEMBERED_SECONDS), KV_TIMEOUT_MS, undefined)
  // The users who have set a status since the last `seen`: the time they were seen is stored with it.
  const stored_since = new Set<string>()

  async function findStored(userIds: readonly string[]): Promise<Map<string, Heartbeat>> {
    if (userIds.length === 0) return new Map()
    const stored = await withDeadline(kv.getAll<Heartbeat>(userIds.map(keyOf)), KV_TIMEOUT_MS, undefined)
    return new Map(
      userIds.flatMap((userId) => {
        const heartbeat = stored?.get(keyOf(userId))
        return heartbeat ? [[userId, heartbeat]] : []
      }),
    )
  }

  return {
    async findAll(userIds) {
      const stored = await findStored(userIds).catch(() => new Map<string, Heartbeat>())
      return new Map([...stored].map(([userId, heartbeat]) => [userId, toLastSeen(heartbeat)]))
    },
    set(userId, status, now) {
      stored_since.add(userId)
      return store(userId, { status, last_seen_at: now, until: now + LAPSE })
    },
    async seen(times) {
      const stored = await findStored([...times.keys()]).catch(() => undefined)
      // What was read may be older than what they have set.
      const remaining = [...times].filter(([userId]) => !stored_since.has(userId))
      stored_since.clear()
      // A store that has just failed is left alone.
      if (!stored) return
      const update = ([userId, last_seen_at]: [string, Micros]) => {
        const { status = 'online', until = 0 } = stored.get(userId) ?? {}
        return store(userId, { status, until, last_seen_at })
      }
      await Promise.allSettled(remaining.map(update))
    },
  }
}

function toLastSeen({ status, last_seen_at, until }: Heartbeat): LastSeen {
  return { seen_at: last_seen_at, ...(until > 0 && { heartbeat: { status, at: until - LAPSE } }) }
}
