import type { EphemeralEvent } from '../context.ts'
import type { DeliverAll } from './deliver-all.ts'
import { createEphemeralEvents } from './ephemeral.ts'
import type { Feed } from './feed.ts'
import type { Place } from './feed-order.ts'
import type { Followers } from './followers.ts'
import type { EventRow, NumberedEvent } from './log.ts'
import { createRendering } from './rendering.ts'

/** The number of rows that one read returns. Rows that concern no reader are not rendered. */
const PAGE = 256

export interface FeedPagesDeps {
  feed: Feed
  followers: Followers
  deliver: DeliverAll['deliver']
  compose: (rows: EventRow[]) => Promise<NumberedEvent[]>
  /** Is awaited between the read of events and their delivery, if it returns a promise. */
  beforeDelivery: () => Promise<void> | undefined
}

/** Reads the log of all conversations on, page by page, and delivers what concerns a reader. */
export function createFeedPages({ feed, followers, deliver, compose, beforeDelivery }: FeedPagesDeps) {
  let place: Place | undefined
  let epoch = ''
  let isEarly = false
  const rendering = createRendering(feed, compose)
  const ephemeral = createEphemeralEvents()

  return {
    /** The place up to which all events are delivered, and the name of the history. */
    reached: () => [place!, epoch] as const,

    hasBegun: () => place !== undefined,
    /** Whether there are events that cannot be delivered before some unfinished transactions end. */
    isEarly: () => isEarly,
    /** Begins at the end of the log, unless it has begun. */
    async begin(): Promise<void> {
      if (place !== undefined) return
      epoch = await feed.epoch()
      place = await feed.head()
    },

    /** The next read begins at the end of the log. */
    forget(): void {
      place = undefined
      rendering.clear()
      // They are of the past for the next reader.
      ephemeral.clear()
    },

    /** @returns whether the log has no further rows at present */
    async readPage(): Promise<boolean> {
      // Listed before the read: an event published during the read may refer to an event that is not in this page.
      const published = ephemeral.list()
      const offered = rendering.offered()
      const news = await feed.news(place!, PAGE)
      for (let wanted = wantedOf(news.rows, followers); wanted.length > 0; ) {
        const events = await rendering.render(wanted, epoch)
        await beforeDelivery()
        // What is published with the last events is one write to each reader with these.
        const isEnd = news.isLast && events.length === wanted.length
        deliver([...events.flatMap((each) => each ?? []), ...(isEnd ? ephemeral.take(published.splice(0)) : [])])
        // After a failure the next run begins here.
        place = wanted[events.length - 1]![1]
        wanted = wanted.slice(events.length)
      }
      place = news.place
      isEarly = news.isEarly
      if (!news.isLast) return false
      if (!isEarly) rendering.forget(offered)
      await beforeDelivery()
      deliver(ephemeral.take(published))
      return true
    },

    /** Adds events of this process that need not be read again. */
    offer: rendering.offer,
    /** Sends an ephemeral event with the next delivery. It replaces earlier ones about the same subject. */
    publish: (conversationId: string, event: EphemeralEvent) => ephemeral.add(conversationId, event),
  }
}

/**
 * The rows that concern a reader. What follows in a conversation to which one of their users is added concerns it, too:
 * its reader follows the conversation only once the row before is delivered.
 */
function wantedOf<Placed extends [row: EventRow, place: Place]>(rows: Placed[], followers: Followers): Placed[] {
  const changed = new Set<string>()
  return rows.filter(([{ type, conversation_id, user_id }]) => {
    if (type === 'membership.changed' && followers.hasUser(user_id!)) changed.add(conversation_id)
    return changed.has(conversation_id) || followers.isRead(conversation_id)
  })
}
