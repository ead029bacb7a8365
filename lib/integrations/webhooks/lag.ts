import type { Context } from '../../context.ts'
import type { Feed } from '../../live/feed/feed.ts'
import type { FeedRow, Place } from '../../live/feed/feed-order.ts'
import { parseEventId } from '../../live/log/event-ids.ts'
import type { Micros } from '../../storage/sql.ts'
import { listVisibleRows, principalOf } from './composing.ts'
import { isWanted, toRoute } from './routing.ts'
import type { WebhookRow } from './store.ts'

/** How much of the log is looked at behind one position. */
const PAGE = 512
const MAX_PAGES = 8

/** Where the log and the users are read. */
type Log = Pick<Context, 'db'> & { feed: Pick<Feed, 'epoch' | 'news' | 'parse'> }

/** What decides which events a webhook is still to be sent. */
type Behind = Pick<WebhookRow, 'id' | 'user_id' | 'bot_id' | 'types' | 'conversation_id' | 'position'>

/**
 * When the first event happened that the log has behind the position of each of these webhooks, and that it may be sent.
 * Webhooks without one are missing. Of one that is far behind, without one at first, it is the end of what was looked at.
 */
export async function listUnsent(log: Log, webhooks: readonly Behind[]): Promise<Map<string, Micros>> {
  const found = new Map<string, Micros>()
  if (webhooks.length === 0) return found
  const epoch = await log.feed.epoch()
  // Most are idle, and stand at one place.
  for (const position of new Set(webhooks.map((each) => each.position))) {
    const { epoch: history, place } = parseEventId(position, log.feed.parse)
    const there = webhooks.filter((each) => each.position === position)
    if (place !== undefined && history === epoch) await lookBehind(log, place, there, found)
  }
  return found
}

async function lookBehind(log: Log, start: Place, webhooks: Behind[], found: Map<string, Micros>): Promise<void> {
  let place = start
  for (let page = 1; ; page++) {
    const news = await log.feed.news(place, PAGE)
    const rows = news.rows.map(([row]) => row)
    const left = webhooks.filter(({ id }) => !found.has(id))
    for (const webhook of left) {
      const first = await findFirst(log, webhook, rows)
      const isTooFar = first === undefined && page === MAX_PAGES && !news.isLast
      const at = isTooFar ? rows.at(-1)?.created_at : first
      if (at !== undefined) found.set(webhook.id, at)
    }
    if (left.length === 0 || news.isLast || page === MAX_PAGES) return
    place = news.place
  }
}

async function findFirst(log: Log, webhook: Behind, rows: FeedRow[]): Promise<Micros | undefined> {
  const route = toRoute(webhook)
  const wanted = rows.filter((row) => isWanted(row, route)).map((row) => ({ row }))
  const [first] = await listVisibleRows(log, principalOf(webhook), wanted)
  return first?.row.created_at
}
