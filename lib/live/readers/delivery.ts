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
  /** The only user who gets the event. */
  for_user_id?: string
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

/** What a delivery means for readers who do not participate. */
interface Outside {
  /** Persisted events, and the activity of threads, which follows from them. The rest is of the moment, and for participants. */
  part: Delivery
  /** Whether it hides the conversation from them: then they get nothing of it, as its texts may be newer than that. */
  hides: boolean
  /** The users who participate after it, and did not before. */
  added: ReadonlySet<string>
}

/** All readers of a delivery who do not participate share this, and the bytes. */
const outsides = new WeakMap<Delivery, Outside>()

/** What a delivery means for readers who do not participate, found once it is needed. */
export function outsideOf(delivery: Delivery): Outside {
  const known = outsides.get(delivery)
  if (known) return known
  const events = delivery.events.filter(({ id, event }) => id !== undefined || event.type === 'thread.activity')
  const part = events.length === delivery.events.length ? delivery : encode(events)
  const outside = { part, hides: events.some(hides), added: addedBy(events) }
  outsides.set(delivery, outside)
  return outside
}

function hides({ event }: Delivered): boolean {
  return event.type === 'conversation.updated' && event.payload.conversation.visibility !== 'open'
}

/** The last change of each user decides: who joins and leaves between two looks at the log does not participate. */
function addedBy(events: Delivered[]): Set<string> {
  const added = new Set<string>()
  for (const { event } of events) {
    if (event.type !== 'membership.changed') continue
    const { action, user_id } = event.payload
    if (action === 'added') added.add(user_id)
    if (action === 'removed') added.delete(user_id)
  }
  return added
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
