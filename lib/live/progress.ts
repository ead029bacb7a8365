import type { Feed } from './feed.ts'
import type { News, Place } from './feed-order.ts'
import { createOwnCommits } from './own-commits.ts'

/** The number of rows that one read returns. */
const PAGE = 256

/** Keeps the place up to which the log of all conversations is delivered, and finds what is new after it. */
export function createProgress(feed: Feed) {
  let place: Place | undefined
  let epoch = ''
  let isEarly = false
  const own = createOwnCommits()

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

    /** The next run begins at the end of the log. */
    forget(): void {
      place = undefined
      own.forget()
    },

    /** Adds the rows of a commit of this process; none if there may be something that must be read. */
    add: own.add,
    /** What was added, if that is all that is new; otherwise the caller must read what was committed until now. */
    takeAdded(): News | undefined {
      const news = own.take(place!)
      return isEarly ? undefined : news
    },
    read: (): Promise<News> => feed.news(place!, PAGE),

    /** After a failure the next run begins at this place, amid what was found. */
    moveTo(next: Place): void {
      place = next
    },
    /** All that was found is delivered. */
    pass(news: News): void {
      // After a takeover by a replica that lacks the last commits, numbers come again.
      if (news.isLast && feed.isAfter(place!, news.place)) own.forget()
      own.passed(news.rows)
      place = news.place
      isEarly = news.isEarly
    },
  }
}
