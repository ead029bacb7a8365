import { including, sees } from '../log/snapshots.ts'
import type { FeedRow, News, Place } from './feed-order.ts'

/** More commits that wait, or rows of one, are read. */
const MAX_COMMITS = 256

/** With more conversations than this, their numbers are forgotten. */
const MAX_CONVERSATIONS = 10_000

/**
 * What this process has committed after a place in the order of all events: it is delivered as it was written. Another
 * process may have committed something before it, which must be read: so each event has to have the number after the one
 * that was delivered last of its conversation.
 */
export function createOwnCommits() {
  /** The number of the last event up to the place, of the conversations of which there was one. */
  const last = new Map<string, number>()
  let commits: FeedRow[][] = []
  let mustRead = false

  return {
    /** Adds the rows of a commit; none if there may be something that must be read. */
    add(rows: FeedRow[]): void {
      // A private event has no number by which it is known to be the next one.
      const hasPrivate = rows.some(({ for_user_id }) => for_user_id !== null)
      mustRead ||= rows.length === 0 || hasPrivate || rows.length > MAX_COMMITS || commits.length === MAX_COMMITS
      commits = mustRead ? [] : [...commits, rows]
    },

    /** @returns what was added, if it follows a place; otherwise the caller must read what is new now */
    take(place: Place): News | undefined {
      const [taken, isUnknown] = [commits, mustRead]
      commits = []
      mustRead = false
      if (isUnknown) return undefined
      const news: News = { rows: [], place, isLast: true, isEarly: false }
      const numbers = new Map<string, number>()
      for (const commit of taken) {
        const progress = follow(news.place, commit)
        if (!progress) return undefined
        for (const [{ conversation_id: id, seq }] of progress.rows) {
          if ((numbers.get(id) ?? last.get(id)) !== seq - 1) return undefined
          numbers.set(id, seq)
        }
        news.rows.push(...progress.rows)
        news.place = progress.place
      }
      return news
    },

    /** The place is now after these rows. */
    passed(rows: News['rows']): void {
      if (last.size > MAX_CONVERSATIONS) last.clear()
      for (const [{ conversation_id, seq }] of rows) if (seq > 0) last.set(conversation_id, seq)
    },

    /** The place is another one, not after the one before. */
    forget(): void {
      last.clear()
    },
  }
}

/** Some rows, each with the place after it, and the place after all of them. */
type Found = Pick<News, 'rows' | 'place'>

/**
 * The rows of a commit after a place, none if the place has them already; `undefined` if they cannot be the next ones.
 * They follow what the place has of their conversations.
 */
function follow(place: Place, rows: FeedRow[]): Found | undefined {
  return typeof place === 'number' ? followId(place, rows) : followSnapshot(place, rows)
}

function followId(place: number, rows: FeedRow[]): Found | undefined {
  const last = rows.at(-1)!.id
  if (last <= place) return { rows: [], place }
  return last === place + rows.length ? { rows: rows.map((row) => [row, row.id]), place: last } : undefined
}

/** Transactions between the snapshot and this one, which may have committed something, are seen by a later one. */
function followSnapshot({ seen, next }: Exclude<Place, number>, rows: FeedRow[]): Found | undefined {
  const { xid = null } = rows[0]!
  if (next || xid === null) return undefined
  if (sees(seen, xid)) return { rows: [], place: { seen } }
  const now = including(seen, xid)
  if (!now) return undefined
  return { rows: rows.map((row) => [row, { seen, next: { sees: now, id: row.id } }]), place: { seen: now } }
}
