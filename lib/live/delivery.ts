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

/** Events and the bytes that say them: encoded once, whoever reads them. */
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

/** Who is removed by events of a delivery, and how much of it is for them: it ends with their removal. */
export function farewellsIn({ events }: Delivery): Map<string, Delivery> {
  const farewells = new Map<string, Delivery>()
  events.forEach(({ event }, index) => {
    if (event.type !== 'membership.changed' || event.payload.action !== 'removed') return
    const { user_id } = event.payload
    if (!farewells.has(user_id)) farewells.set(user_id, encode(events.slice(0, index + 1)))
  })
  return farewells
}

/** Who follows all of their conversations, and what those are: since when the reader takes part in each. */
export interface Places {
  user_id: string
  joined: Map<string, Micros>
  /** Changes up to this number of the log are in `joined` already. */
  since: number
}

/** One of these conversations that a stream of all conversations follows. */
export function findShared({ joined }: Places, conversationIds: ReadonlySet<string>): string | undefined {
  const [fewer, other] = joined.size < conversationIds.size ? [joined, conversationIds] : [conversationIds, joined]
  for (const id of fewer.keys()) if (other.has(id)) return id
  return undefined
}

/**
 * What of a delivery is for somebody who follows all of their conversations: what happened in them since they joined,
 * and every change of their own membership. Keeps `places` up to date with it.
 */
export function select(delivery: Delivery, places: Places): Delivery {
  const seen = new Set<string>()
  const chosen = delivery.events.filter((delivered) => {
    const { event, conversation_id = '', at, seq = 0 } = delivered
    if (event.type === 'membership.changed' && event.payload.user_id === places.user_id) {
      if (seq > places.since && event.payload.action === 'added') places.joined.set(conversation_id, at!)
      if (seq > places.since && event.payload.action === 'removed') places.joined.delete(conversation_id)
      return true
    }
    const joined = places.joined.get(conversation_id)
    if (joined === undefined || (at !== undefined && at < joined)) return false
    // Said in each conversation that is shared; once is enough.
    if (event.type !== 'presence.update') return true
    const { user_id } = event.payload
    return !seen.has(user_id) && Boolean(seen.add(user_id))
  })
  return chosen.length === delivery.events.length ? delivery : encode(chosen)
}
