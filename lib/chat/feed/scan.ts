import type { Context } from '../../context.ts'
import type { FeedRow, Place } from '../../live/feed/feed-order.ts'
import { isOwnMembership } from '../../live/feed/watch.ts'
import { eventId } from '../../live/log/event-ids.ts'
import { isForAnother } from '../../live/log/private.ts'
import type { Micros } from '../../storage/sql.ts'
import { listParticipations } from '../memberships/store.ts'
import { type Composing, composeEvents, MAX_BYTES, type PlacedRow } from './composing.ts'
import type { FeedEvent } from './schema.ts'

/** The number of rows of all conversations that are read at once. */
const PAGE = 512

/** How many rows a call reads at most: a program that is far behind calls again. */
const MAX_ROWS = 16 * PAGE

/** The number of events that are composed at once. */
const COMPOSE_PAGE = 64

/** Which events a call returns. */
export interface Wanted {
  user_id: string
  /** Whether it reads all conversations. */
  is_system: boolean
  wants(row: FeedRow): boolean
  /** What is returned of the events that it wants, by event. Default: all, whole. */
  choose?: ((events: FeedEvent[]) => Promise<ReadonlyMap<FeedEvent, FeedEvent>>) | undefined
  limit: number
  /** The name of the history of positions. */
  epoch: string
}

/** Events after a place, and the place after them. */
export interface Scanned {
  events: FeedEvent[]
  place: Place
  /** Whether there may be more. */
  has_more: boolean
  /** Whether any row was read. */
  has_rows: boolean
}

/**
 * Reads on from a place in the log of all conversations, and keeps what concerns the user. The conversations of the user
 * are not looked up before: without news a call costs the same whether they are ten or ten thousand.
 */
export async function scan(ctx: Context, from: Place, wanted: Wanted, composing: Composing): Promise<Scanned> {
  const { feed } = ctx.streams.hub
  const page = createPage(ctx, wanted, composing)
  let place = from
  for (let rows = 0; ; ) {
    const news = await feed.news(place, PAGE)
    rows += news.rows.length
    const positionOf = (after: Place) => eventId(wanted.epoch, feed.format(after))
    const due = await listDue(ctx, news.rows, wanted)
    for (let left = due; left.length > 0; ) {
      const added = await page.add(left.map(([row, after]) => ({ row, position: positionOf(after) })))
      if (added > 0) place = left[added - 1]![1]
      left = left.slice(added)
      if (page.isFull() && left.length > 0) return { events: page.events, place, has_more: true, has_rows: true }
    }
    place = news.place
    const has_more = !news.isLast
    if (!has_more || page.isFull() || rows >= MAX_ROWS)
      return { events: page.events, place, has_more, has_rows: rows > 0 }
  }
}

/** The events of one answer, within its bounds. */
function createPage(ctx: Context, { limit, choose }: Pick<Wanted, 'limit' | 'choose'>, composing: Composing) {
  const events: FeedEvent[] = []
  let bytes = 0
  let isFull = false

  return {
    events,
    isFull: () => isFull,
    /** Adds the events of the first of these rows. @returns of how many */
    async add(placed: PlacedRow[]): Promise<number> {
      const composed = await composeEvents(ctx, placed.slice(0, COMPOSE_PAGE), composing)
      const chosen = await choose?.(composed.flatMap(({ event }) => event ?? []))
      for (const [n, { event: whole, bytes: size }] of composed.entries()) {
        const event = whole && chosen ? chosen.get(whole) : whole
        if (!event) continue
        isFull = events.length === limit || (events.length > 0 && bytes + size > MAX_BYTES)
        if (isFull) return n
        events.push(event)
        bytes += size
      }
      isFull = events.length === limit
      return composed.length
    },
  }
}

/** The rows that a call returns: of conversations in which the user participates, from the joining on. */
async function listDue(
  { db }: Context,
  rows: [row: FeedRow, place: Place][],
  { user_id, is_system, wants }: Wanted,
): Promise<[row: FeedRow, place: Place][]> {
  const some = rows.filter(([row]) => wants(row) && !isForAnother(row, user_id))
  if (is_system || some.length === 0) return some
  const ids = new Set(some.map(([row]) => row.conversation_id))
  const joined = new Map<string, Micros>()
  for (const { conversation_id, joined_at } of await listParticipations(db, [user_id], ids))
    joined.set(conversation_id, joined_at)
  return some.filter(([row]) => {
    const joined_at = joined.get(row.conversation_id)
    // A private event is the user's, also one from before the user left and joined again.
    const isSince = joined_at !== undefined && (row.for_user_id !== null || row.created_at >= joined_at)
    return isOwnMembership(row, user_id) || isSince
  })
}
