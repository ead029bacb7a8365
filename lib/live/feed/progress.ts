import type { EventRow } from '../log/log.ts'
import type { Feed } from './feed.ts'
import type { FeedRow, News, Place } from './feed-order.ts'
import { createLatestCommits, type Origin } from './lag.ts'
import { createOwnCommits } from './own-commits.ts'

/** The number of rows that one read returns. */
const PAGE = 256

/** Keeps the place up to which the log of all conversations is delivered, and finds what is new after it. */
export function createProgress(feed: Feed) {
  let place: Place | undefined
  let epoch = ''
  let isEarly = false
  const own = createOwnCommits()
  const latest = createLatestCommits()

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
      latest.take()
    },

    /** Adds the rows of a commit, by this process if `isOwn`; none if there may be something that must be read. */
    add(rows: FeedRow[], isOwn: boolean): void {
      own.add(rows)
      if (isOwn) latest.add(rows)
    },
    /**
     * What was added, if that is all that is new; otherwise the caller must read what was committed until now. With a
     * function that tells its rows from those of other processes.
     */
    takeAdded(): { known: News | undefined; originOf: (row: EventRow) => Origin } {
      const news = own.take(place!)
      return { known: isEarly ? undefined : news, originOf: latest.take() }
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
