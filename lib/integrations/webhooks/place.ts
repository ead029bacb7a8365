import type { Context } from '../../context.ts'
import { ChatError } from '../../core/errors.ts'
import { INSTANT_PATTERNS } from '../../core/schema.ts'
import { fromInstant } from '../../core/time.ts'
import { HOUR } from '../../core/units.ts'
import type { Place } from '../../live/feed/feed-order.ts'
import { eventId, parseEventId } from '../../live/log/event-ids.ts'
import type { Queries } from '../../storage/database.ts'
import type { Micros, Sql } from '../../storage/sql.ts'
import { addGap, parseGaps, toGaps } from './rules-gaps.ts'
import { setPosition, type WebhookRow } from './store.ts'
import { deletePending, findLogState } from './store-deliveries.ts'

/** Where a webhook begins, and what its receiver must know of events that the log has no more. */
export type Start = Pick<WebhookRow, 'position' | 'gap'>

/** The present end of the log: what is written later is sent. */
export async function presentStart(ctx: Context): Promise<Start> {
  return { position: await positionOf(ctx, await ctx.streams.hub.feed.head()), gap: null }
}

/**
 * The place of an instant, or of a position.
 *
 * @throws ChatError `validation_failed` for a future one, for a position of another history, and for any other text
 */
export async function startSince(ctx: Context, since: string): Promise<Start> {
  const { feed } = ctx.streams.hub
  const instant = INSTANT_PATTERNS.instant.test(since) ? fromInstant(since) : undefined
  const place = instant === undefined ? await placeOf(ctx, since) : await placeOfInstant(ctx, instant)
  const position = await positionOf(ctx, place)
  const isLost = (instant !== undefined && (await mayHaveLost(ctx, instant))) || (await feed.isExpired(place))
  if (!isLost) return { position, gap: null }
  const cursor = await positionOf(ctx, await feed.placeAt(0))
  return { position, gap: toGaps([{ cursor, reason: 'since', from: since, to: cursor }]) }
}

/**
 * @param oldest the first instant from which events are sent again
 * @throws ChatError `not_found` if the log has lost events after a start, or has some from before `oldest`
 */
export async function assertKept(
  ctx: Context,
  { since, position }: { since: string; position: string },
  oldest: Micros,
): Promise<void> {
  const { feed } = ctx.streams.hub
  const place = parseEventId(position, feed.parse).place!
  const [first] = (await feed.news(place, 1)).rows
  const isOld = first !== undefined && first[0].created_at < oldest
  const instant = INSTANT_PATTERNS.instant.test(since) ? fromInstant(since) : undefined
  const isLost = instant !== undefined && (instant < oldest || (await mayHaveLost(ctx, instant)))
  if (isOld || isLost || (await feed.isExpired(place)))
    throw new ChatError('not_found', { message: 'The log has these events no more, or they are too old.' })
}

/** Moves a webhook to a place that its owner names, with what its receiver was not told yet. */
export async function moveTo(ctx: Context, tx: Queries, row: WebhookRow, { position, gap }: Start): Promise<Start> {
  // These are read in the log again, or skipped.
  await deletePending(tx, row.id, isUpToPosition(ctx, position))
  const moved = { position, gap: parseGaps(gap).reduce(addGap, row.gap) }
  await setPosition(tx, row.id, moved)
  return moved
}

/** Moves a webhook that begins anew to the present: what it has missed is never sent, and its receiver is told so. */
export async function moveToPresent(tx: Queries, row: WebhookRow, { position }: Start): Promise<Start> {
  const waiting = await deletePending(tx, row.id)
  const moved = { position, gap: gapUntil(row, position, waiting) }
  await setPosition(tx, row.id, moved)
  return moved
}

function gapUntil(row: WebhookRow, position: string, waiting: number): string | null {
  const skipped = { cursor: position, to: position }
  if (row.disabled_reason === 'restored') return toGaps([{ ...skipped, reason: 'history' }])
  // What waits happened before the position.
  if (waiting > 0) return addGap(row.gap, { ...skipped, reason: 'since' })
  return position === row.position ? row.gap : addGap(row.gap, { ...skipped, reason: 'since', from: row.position })
}

/** Whether events from an instant on may have been deleted because of their age: nothing says when the last one happened. */
async function mayHaveLost({ db, config, now }: Context, instant: Micros): Promise<boolean> {
  if (instant >= now() - config.sse.replay_retention_hours * HOUR) return false
  const { has_deleted, first_at } = await findLogState(db)
  return has_deleted && (first_at === null || first_at > instant)
}

/** The position that is before, or is, both: the first one if the second is of another database. */
export function earlierOf({ streams }: Context, position: string, other: string): string {
  const { feed } = streams.hub
  const { epoch, place } = parseEventId(position, feed.parse)
  const { epoch: otherEpoch, place: otherPlace } = parseEventId(other, feed.parse)
  if (place === undefined || otherPlace === undefined || epoch !== otherEpoch) return position
  // Only where neither has all of the other, some events come again that both have.
  if (feed.isWithin(otherPlace, place)) return other
  return feed.isWithin(place, otherPlace) ? position : eventId(epoch!, feed.format(feed.earliest([place, otherPlace])))
}

/** The condition that the row `e` of the log is one of those up to a position. */
function isUpToPosition({ streams }: Context, position: string): Sql {
  const { feed } = streams.hub
  return feed.isUpTo(parseEventId(position, feed.parse).place!)
}

async function placeOfInstant({ streams, now }: Context, instant: Micros): Promise<Place> {
  if (instant > now()) throw invalid('must not be in the future')
  return streams.hub.feed.placeAt(instant)
}

async function placeOf({ streams }: Context, since: string): Promise<Place> {
  const { feed } = streams.hub
  const { epoch, place } = parseEventId(since, feed.parse)
  if (place === undefined) throw invalid('must be an RFC 3339 instant or a position')
  if (epoch !== (await feed.epoch())) throw invalid('is a position of another database')
  if (await feed.isFuture(place)) throw invalid('must not be in the future')
  return place
}

async function positionOf({ streams }: Context, place: Place): Promise<string> {
  const { feed } = streams.hub
  return eventId(await feed.epoch(), feed.format(place))
}

function invalid(message: string): ChatError {
  return new ChatError('validation_failed', { errors: [{ path: 'since', message }] })
}
