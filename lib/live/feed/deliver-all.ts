import type { Metrics } from '../../metrics/registry.ts'
import { type Delivered, type Delivery, encode } from '../readers/delivery.ts'
import type { Reader } from '../readers/reader.ts'
import type { Followers } from './followers.ts'
import { groupReaders, listGroupEvents } from './reader-groups.ts'

/**
 * The bytes that wait for a reader that is sent missed events. Beyond them it is sent what it missed in that time, too.
 */
const MAX_WAITING = 64 * 1024

/** Sends events to the streams of all conversations that they concern. */
export type DeliverAll = ReturnType<typeof createDeliverAll>

interface DeliverAllDeps {
  followers: Followers
  metrics: Metrics
  /** Sends new events to a live reader. */
  send: (reader: Reader, delivery: Delivery) => void
}

export function createDeliverAll({ followers, metrics, send }: DeliverAllDeps) {
  function sendOrKeep(reader: Reader, delivery: Delivery): void {
    const { waiting } = reader.following!
    if (waiting) {
      waiting.bytes += delivery.bytes.length
      if (waiting.bytes <= MAX_WAITING) waiting.deliveries.push(delivery)
    } else send(reader, delivery)
  }

  function sendTo(readers: Reader[], delivered: Delivered): void {
    if (readers.length === 0) return
    const delivery = encode([delivered])
    for (const reader of readers) sendOrKeep(reader, delivery)
  }

  return {
    /** Sends events, in this order, to the readers that they concern. @returns how many, to all readers together */
    deliver(events: Delivered[]): number {
      let delivered = 0
      for (const [reader, group] of groupReaders(events, followers)) {
        group.delivery ??= encode(withoutRepeats(listGroupEvents(group)))
        delivered += group.delivery.events.length
        sendOrKeep(reader, group.delivery)
      }
      if (delivered > 0) metrics.delivered(delivered)
      return delivered
    },

    /** Sends an event to the readers of a user. */
    deliverToUser(userId: string, delivered: Delivered): void {
      sendTo(followers.ofUser(userId), delivered)
    },

    /** Sends an event to the readers that it concerns, except those of some users. */
    deliverExcept(userIds: ReadonlySet<string>, delivered: Delivered): void {
      const readers = followers.concernedBy(delivered).filter(({ user_id }) => !userIds.has(user_id))
      sendTo(readers, delivered)
    },

    /**
     * Makes a reader live that was sent the events before it followed its conversations.
     *
     * @returns false if too much has arrived since: the reader must be sent that as well
     */
    goLive(reader: Reader): boolean {
      const following = reader.following!
      const { deliveries, bytes } = following.waiting!
      if (bytes > MAX_WAITING) return false
      following.waiting = undefined
      for (const delivery of deliveries) if (!reader.closed) send(reader, delivery)
      return true
    },

    /** Forgets the waiting deliveries of a reader, which is sent the events up to now instead. */
    restart(reader: Reader): void {
      reader.following!.waiting = { deliveries: [], bytes: 0 }
    },
  }
}

/** Presence and names are published in each conversation that two users share; a reader gets them once. */
function withoutRepeats(events: Delivered[]): Delivered[] {
  const seen = new Set<string>()
  return events.filter(({ event }) => {
    const key = repeatedKey(event)
    return key === undefined || (!seen.has(key) && Boolean(seen.add(key)))
  })
}

function repeatedKey(event: Delivered['event']): string | undefined {
  if (event.type === 'presence.update') return event.payload.user_id
  return event.type === 'user.updated' ? `${event.type} ${event.payload.user.id}` : undefined
}
