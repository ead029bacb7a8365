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
        group.delivery ??= encode(withoutRepeats(eventsOf(group)))
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

/** Readers of the same events, which share their bytes: those of the group from which they came, if there is one, and more. */
interface Group {
  before: Group | undefined
  more: Delivered[]
  delivery?: Delivery
}

/** The readers that events concern, each with the group of those that get the same ones. */
function groupReaders(events: Delivered[], followers: Followers): Map<Reader, Group> {
  const groups = new Map<Reader, Group>()
  let latest: Group[] = []
  events.forEach((each, index) => {
    if (index > 0 && concernSame(events[index - 1]!, each)) {
      for (const group of latest) group.more.push(each)
      return
    }
    // Readers of one group that get this event, too, are one group again.
    const next = new Map<Group | undefined, Group>()
    for (const reader of followers.concernedBy(each)) {
      const before = groups.get(reader)
      const group = next.get(before) ?? { before, more: [each] }
      next.set(before, group)
      groups.set(reader, group)
    }
    latest = [...next.values()]
  })
  return groups
}

/**
 * Whether two events, one behind the other, concern the same readers: those of one conversation, which nobody joins or
 * leaves between them.
 */
function concernSame(one: Delivered, next: Delivered): boolean {
  if (one.event.type === 'membership.changed' || next.event.type === 'membership.changed') return false
  const areOfLog = one.at !== undefined && next.at !== undefined
  return areOfLog && one.conversation_id === next.conversation_id
}

/** The events of a group, in their order. */
function eventsOf(group: Group): Delivered[] {
  const runs: Delivered[][] = []
  for (let each: Group | undefined = group; each; each = each.before) runs.push(each.more)
  return runs.reverse().flat()
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
