import type { ConversationStreamEvent } from '../context.ts'
import { formatEvent } from '../core/event-stream.ts'
import type { Micros } from '../storage/sql.ts'
import { eventId } from './event-ids.ts'
import type { NumberedEvent } from './log.ts'

/** An event with its id; ephemeral events have none. */
export interface Delivered {
  id?: string
  event: ConversationStreamEvent
  /** The conversation of the event, its number in the log, and its time: a stream of several conversations uses them. */
  conversation_id?: string
  seq?: number
  at?: Micros
}

/** Events with their ids in a history, without those whose subject is deleted. */
export function withIds(epoch: string, page: NumberedEvent[]): Delivered[] {
  return page.flatMap(({ event, ...line }) => (event ? [{ ...line, id: eventId(epoch, line.seq), event }] : []))
}

/** Events and their bytes, which are encoded once for all readers. */
export interface Delivery {
  bytes: Uint8Array
  events: Delivered[]
}

/** Encodes events into one buffer: all of them, or as many as reach `limit` bytes. */
export function encode(events: Delivered[], limit = Number.POSITIVE_INFINITY): Delivery {
  let text = ''
  let count = 0
  // Counts UTF-16 units, which are bytes for ASCII text: close enough for the size of a page.
  while (count < events.length && text.length < limit) {
    const { id, event } = events[count++]!
    text += formatEvent({ id, type: event.type, data: JSON.stringify(event) })
  }
  return { events: count < events.length ? events.slice(0, count) : events, bytes: Buffer.from(text) }
}

/** The users that a delivery removes from the conversation, each with the events up to its own removal. */
export function removalsIn({ events }: Delivery): Map<string, Delivery> {
  const removals = new Map<string, Delivery>()
  events.forEach(({ event }, index) => {
    if (event.type !== 'membership.changed' || event.payload.action !== 'removed') return
    const { user_id } = event.payload
    if (!removals.has(user_id)) removals.set(user_id, encode(events.slice(0, index + 1)))
  })
  return removals
}

/** The conversations that a stream of all conversations follows, each with the time at which its user joined. */
export interface FollowedConversations {
  user_id: string
  joined: Map<string, Micros>
  /** `joined` contains all changes up to this number of the log. */
  since: number
}

/** One of these conversations that the stream follows. */
export function findShared(
  { joined }: FollowedConversations,
  conversationIds: ReadonlySet<string>,
): string | undefined {
  const [fewer, other] = joined.size < conversationIds.size ? [joined, conversationIds] : [conversationIds, joined]
  for (const id of fewer.keys()) if (other.has(id)) return id
  return undefined
}

/**
 * The part of a delivery for a reader of all conversations of its user: the events since the user joined each, and every
 * change of the user's own membership. Updates `memberships`.
 */
export function select(delivery: Delivery, memberships: FollowedConversations): Delivery {
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
    // Published in each shared conversation; the reader gets it once.
    if (event.type !== 'presence.update') return true
    const { user_id } = event.payload
    return !seen.has(user_id) && Boolean(seen.add(user_id))
  })
  return chosen.length === delivery.events.length ? delivery : encode(chosen)
}
