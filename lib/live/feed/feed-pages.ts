import type { EphemeralEvent } from '../../context.ts'
import type { EventRow, NumberedEvent } from '../log/log.ts'
import { createEphemeralEvents } from '../readers/ephemeral.ts'
import type { Outcome } from '../transaction/transaction.ts'
import type { DeliverAll } from './deliver-all.ts'
import type { Feed } from './feed.ts'
import type { News, Place } from './feed-order.ts'
import type { Followers } from './followers.ts'
import type { Measure, Origin } from './lag.ts'
import { createProgress } from './progress.ts'
import { createRendering } from './rendering.ts'

export interface FeedPagesDeps {
  feed: Feed
  followers: Followers
  deliver: DeliverAll['deliver']
  compose: (rows: EventRow[]) => Promise<NumberedEvent[]>
  /** Is awaited between the read of events and their delivery, if it returns a promise. */
  beforeDelivery: () => Promise<void> | undefined
  /** Is called after a delivery to readers. */
  measure: Measure
}

/** The new events of a commit. */
export type Committed = Pick<Outcome, 'conversations' | 'rows'>

/** Goes on in the log of all conversations, page by page, and delivers what concerns a reader. */
export function createFeedPages({ feed, followers, deliver, compose, beforeDelivery, measure }: FeedPagesDeps) {
  const progress = createProgress(feed)
  const { reached, hasBegun, isEarly, begin } = progress
  const rendering = createRendering(feed, compose)
  const ephemeral = createEphemeralEvents()

  /** @param known what is new, if it need not be read. @returns whether there is nothing more at present */
  async function passPage(originOf: (row: EventRow) => Origin, known?: News): Promise<boolean> {
    // Listed before the read: an event published during the read may refer to an event that is not in this page.
    const published = ephemeral.list()
    const offered = rendering.offered()
    const news = known ?? (await progress.read())
    // Rows that concern no reader are not rendered.
    for (let rows = wantedOf(news.rows, followers); rows.length > 0; ) {
      const events = await rendering.render(rows, reached()[1])
      await beforeDelivery()
      // What is published with the last events is one write to each reader with these.
      const isEnd = news.isLast && events.length === rows.length
      const due = [...events.flatMap((rows) => rows ?? []), ...(isEnd ? ephemeral.take(published.splice(0)) : [])]
      if (deliver(due) > 0) measure(originOf(rows[0]![0]))
      progress.moveTo(rows[events.length - 1]![1])
      rows = rows.slice(events.length)
    }
    progress.pass(news)
    if (!news.isLast) return false
    if (!isEarly()) rendering.forget(offered)
    await beforeDelivery()
    deliver(ephemeral.take(published))
    return true
  }

  return {
    reached,
    hasBegun,
    isEarly,
    begin,

    /** The next run begins at the end of the log. */
    forget(): void {
      progress.forget()
      rendering.clear()
      // They are of the past for the next reader.
      ephemeral.clear()
    },

    /** Delivers all that was committed before the call. */
    async readOn(): Promise<void> {
      const { known, originOf } = progress.takeAdded()
      let isLast = await passPage(originOf, known)
      while (!isLast) isLast = await passPage(originOf)
    },

    /** Adds a commit of this process, of which what is known need not be read again; without rows, all is read. */
    add({ conversations, rows }: Committed): void {
      for (const [id, events] of conversations) if (followers.isRead(id)) rendering.offer(events)
      progress.add(rows, conversations.size > 0)
    },
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
  return rows.filter(([{ type, conversation_id, user_id, for_user_id }]) => {
    if (for_user_id !== null) return followers.hasUser(for_user_id)
    if (type === 'membership.changed' && followers.hasUser(user_id!)) changed.add(conversation_id)
    return changed.has(conversation_id) || followers.isRead(conversation_id)
  })
}
