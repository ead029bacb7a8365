import type { Context } from '../../context.ts'
import { ChatError } from '../../core/errors.ts'
import { INSTANT_PATTERNS } from '../../core/schema.ts'
import { fromInstant } from '../../core/time.ts'
import type { Place } from '../../live/feed/feed-order.ts'
import { eventId, parseEventId } from '../../live/log/event-ids.ts'
import type { WebhookRow } from './store.ts'

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
  const place = INSTANT_PATTERNS.instant.test(since) ? await placeOfInstant(ctx, since) : await placeOf(ctx, since)
  const position = await positionOf(ctx, place)
  const gap = (await feed.isExpired(place)) ? JSON.stringify({ cursor: position, reason: 'since' }) : null
  return { position, gap }
}

async function placeOfInstant({ streams, now }: Context, since: string): Promise<Place> {
  const instant = fromInstant(since)
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
