import type { ConversationStreamEvent } from '../context.ts'
import type { Micros } from '../storage/sql.ts'
import type { NumberedEvent } from './log.ts'
import { eventId, toFrame } from './position.ts'

/** An event with its id; those that are not persisted have none. */
export interface Delivered {
  id?: string
  event: ConversationStreamEvent
  /** Which conversation it is of, its number in the log, and when it happened: what a stream of several looks at. */
  conversation_id?: string
  seq?: number
  at?: Micros
}

/** Events with the ids that a history of theirs gives them; those about what is gone are left out. */
export function withIds(epoch: string, page: NumberedEvent[]): Delivered[] {
  return page.flatMap(({ event, ...line }) => (event ? [{ ...line, id: eventId(epoch, line.seq), event }] : []))
}

/** Events and their bytes: encoded once for all readers. */
export interface Delivery {
  bytes: Uint8Array
  events: Delivered[]
}

/** Events as one piece of bytes: all of them, or as many as it takes to reach `limit` bytes. */
export function encode(events: Delivered[], limit = Number.POSITIVE_INFINITY): Delivery {
  let text = ''
  let count = 0
  // In characters, which are bytes but for what is not ASCII: near enough for a page.
  while (count < events.length && text.length < limit) {
    const { id, event } = events[count++]!
    text += toFrame(event, id)
  }
  return { events: count < events.length ? events.slice(0, count) : events, bytes: Buffer.from(text) }
}

/** The users that a delivery removes from the conversation, each with what it may still get: up to its own removal. */
export function removalsIn({ events }: Delivery): Map<string, Delivery> {
  const removals = new Map<string, Delivery>()
  events.forEach(({ event }, index) => {
    if (event.type !== 'membership.changed' || event.payload.action !== 'removed') return
    const { user_id } = event.payload
    if (!removals.has(user_id)) removals.set(user_id, encode(events.slice(0, index + 1)))
  })
  return removals
}

/** The conversations of a user that follows all of them, and since when the user takes part in each. */
export interface Memberships {
  user_id: string
  joined: Map<string, Micros>
  /** Changes up to this number of the log are in `joined` already. */
  since: number
}

/** One of these conversations that a stream of all conversations follows. */
export function findShared({ joined }: Memberships, conversationIds: ReadonlySet<string>): string | undefined {
  const [fewer, other] = joined.size < conversationIds.size ? [joined, conversationIds] : [conversationIds, joined]
  for (const id of fewer.keys()) if (other.has(id)) return id
  return undefined
}

/**
 * The part of a delivery for a reader that follows all of its user's conversations: what happened in them since the user
 * joined, and every change of its own membership. Keeps `memberships` up to date.
 */
export function select(delivery: Delivery, memberships: Memberships): Delivery {
  const seen = new Set<string>()
  const chosen = delivery.events.filter((delivered) => {
    const { event, conversation_id = '', at, seq = 0 } = delivered
    if (event.type === 'membership.changed' && event.payload.user_id === memberships.user_id) {
      if (seq > memberships.since && event.payload.action === 'added') memberships.joined.set(conversation_id, at!)
      if (seq > memberships.since && event.payload.action === 'removed') memberships.joined.delete(conversation_id)
      return true
    }
    const joined = memberships.joined.get(conversation_id)
    if (joined === undefined || (at !== undefined && at < joined)) return false
    // Published in each shared conversation; once is enough.
    if (event.type !== 'presence.update') return true
    const { user_id } = event.payload
    return !seen.has(user_id) && Boolean(seen.add(user_id))
  })
  return chosen.length === delivery.events.length ? delivery : encode(chosen)
}
