import type { Metrics } from '../metrics/registry.ts'
import { type Delivered, type Delivery, encode } from './delivery.ts'
import type { Followers } from './followers.ts'
import type { Reader } from './reader.ts'

/** The bytes that wait for a reader that is sent missed events. Beyond them it is sent what it missed meanwhile, too. */
const MOST_WAITING = 64 * 1024

/** Sends events to the streams of all conversations that they concern. */
export type DeliverAll = ReturnType<typeof createDeliverAll>

/** @param deps.send sends new events to a live reader */
export function createDeliverAll(deps: {
  followers: Followers
  metrics: Metrics
  send: (reader: Reader, delivery: Delivery) => void
}) {
  const { followers, metrics, send } = deps

  function sendOrKeep(reader: Reader, delivery: Delivery): void {
    const { waiting } = reader.following!
    if (waiting) {
      waiting.bytes += delivery.bytes.length
      if (waiting.bytes <= MOST_WAITING) waiting.deliveries.push(delivery)
    } else send(reader, delivery)
  }

  return {
    /** Sends events, in this order, to the readers that they concern. Readers of the same ones share their bytes. */
    deliver(events: Delivered[]): void {
      const encoded = new Map<string, Delivery>()
      for (const [reader, indexes] of choose(events, followers)) {
        const key = indexes.join()
        const delivery = encoded.get(key) ?? encode(withoutRepeats(indexes.map((index) => events[index]!)))
        encoded.set(key, delivery)
        metrics.delivered(delivery.events.length)
        sendOrKeep(reader, delivery)
      }
    },

    /** Sends an event to the readers of a user. */
    deliverToUser(userId: string, delivered: Delivered): void {
      for (const reader of followers.ofUser(userId)) sendOrKeep(reader, encode([delivered]))
    },

    /** Sends an event to the readers that it concerns, except those of some users. */
    deliverExcept(userIds: ReadonlySet<string>, delivered: Delivered): void {
      const delivery = encode([delivered])
      for (const reader of followers.concernedBy(delivered))
        if (!userIds.has(reader.user_id)) sendOrKeep(reader, delivery)
    },

    /**
     * Makes a reader live that was sent the events before it followed its conversations.
     *
     * @returns false if too much has arrived meanwhile: the reader must be sent that as well
     */
    goLive(reader: Reader): boolean {
      const following = reader.following!
      const { deliveries, bytes } = following.waiting!
      if (bytes > MOST_WAITING) return false
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

/** The readers that events concern, each with the indexes of its own. */
function choose(events: Delivered[], followers: Followers): Map<Reader, number[]> {
  const chosen = new Map<Reader, number[]>()
  events.forEach((each, index) => {
    for (const reader of followers.concernedBy(each)) {
      const own = chosen.get(reader)
      if (own) own.push(index)
      else chosen.set(reader, [index])
    }
  })
  return chosen
}

/** Presence is published in each conversation that two users share; a reader gets it once. */
function withoutRepeats(events: Delivered[]): Delivered[] {
  const seen = new Set<string>()
  return events.filter(({ event }) => {
    if (event.type !== 'presence.update') return true
    const { user_id } = event.payload
    return !seen.has(user_id) && Boolean(seen.add(user_id))
  })
}
