import type { ConversationStreamEvent } from '../../context.ts'
import { formatEvent } from '../../core/sse-format.ts'
import type { Micros } from '../../storage/sql.ts'
import { eventId } from '../log/event-ids.ts'
import type { NumberedEvent } from '../log/log.ts'

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

/**
 * New events, each latest reply to a thread with `thread.activity` behind it. Every node adds it for itself: passed on
 * between nodes it would cost a transaction for each post.
 */
export function withActivities(events: Delivered[]): Delivered[] {
  const latest = new Map<string, Delivered>()
  for (const event of events) {
    const reply = replyOf(event)
    if (reply) latest.set(reply.root_id, event)
  }
  if (latest.size === 0) return events
  return events.flatMap((event) => {
    const reply = replyOf(event)
    if (!reply || latest.get(reply.root_id) !== event) return [event]
    const { conversation_id, root_id, created_at } = reply
    const payload = { root_id, last_activity_at: created_at }
    return [event, { conversation_id, event: { type: 'thread.activity', payload } }]
  })
}

/** The message of an event, if that is a new reply. */
function replyOf({ event }: Delivered) {
  return event.type === 'message.new' && event.payload.message.parent_id ? event.payload.message : undefined
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

/** The persisted events of deliveries, once they were needed: all readers of a delivery that get no more share the bytes. */
const storedParts = new WeakMap<Delivery, Delivery>()

/**
 * What a reader who does not participate gets of a delivery: persisted events, and the activity of threads, which follows
 * from them. The rest is of the moment, and for participants.
 */
export function publicPart(delivery: Delivery): Delivery {
  const made = storedParts.get(delivery)
  if (made) return made
  const events = delivery.events.filter(({ id, event }) => id !== undefined || event.type === 'thread.activity')
  const part = events.length === delivery.events.length ? delivery : encode(events)
  storedParts.set(delivery, part)
  return part
}

/** What a reader who does not participate gets before the conversation is no longer open; `undefined` if it stays open. */
export function untilHidden({ events }: Delivery): Delivery | undefined {
  const end = events.findIndex(
    ({ event }) => event.type === 'conversation.updated' && event.payload.conversation.visibility !== 'open',
  )
  return end === -1 ? undefined : encode(events.slice(0, end))
}

/** Whether a delivery makes a user a participant of the conversation. */
export function adds(delivery: Delivery, userId: string): boolean {
  return delivery.events.some(
    ({ event }) =>
      event.type === 'membership.changed' && event.payload.action === 'added' && event.payload.user_id === userId,
  )
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
