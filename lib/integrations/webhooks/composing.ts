import { type Composing, composeEvents, type PlacedRow } from '../../chat/feed/composing.ts'
import { FeedEvent } from '../../chat/feed/schema.ts'
import { listParticipations } from '../../chat/memberships/store.ts'
import { linkBaseOf } from '../../config/base-path.ts'
import type { Context } from '../../context.ts'
import { isOwnMembership } from '../../live/feed/watch.ts'
import { listHistories } from '../../storage/histories.ts'
import { isSent } from './rules-concerns.ts'
import { pathOf, toThin } from './rules-payload.ts'
import type { WebhookRow } from './store.ts'
import { listAuthors, listDirect } from './store-sending.ts'

/** An event as it is sent. */
export interface ComposedEvent {
  id: string
  /** JSON. */
  body: string
}

/** The user, or the bot, whose events a webhook gets; `null` for the operator's, which gets all. */
export const principalOf = ({ user_id, bot_id }: Pick<WebhookRow, 'user_id' | 'bot_id'>) => bot_id ?? user_id

/**
 * The rows that a webhook may be sent: of conversations in which its user participates now, from the joining on.
 *
 * @param userId `null` for all conversations
 */
export async function listVisibleRows<Placed extends Pick<PlacedRow, 'row'>>(
  { db }: Pick<Context, 'db'>,
  userId: string | null,
  placed: Placed[],
): Promise<Placed[]> {
  if (userId === null || placed.length === 0) return placed
  const ids = new Set(placed.map(({ row }) => row.conversation_id))
  const participations = await listParticipations(db, [userId], ids)
  const joined = new Map(participations.map(({ conversation_id, joined_at }) => [conversation_id, joined_at]))
  return placed.filter(({ row }) => {
    const joined_at = joined.get(row.conversation_id)
    // A private event is the user's, also one from before the user left and joined again.
    const isSince = joined_at !== undefined && (row.for_user_id !== null || row.created_at >= joined_at)
    return isOwnMembership(row, userId) || isSince
  })
}

/**
 * What a webhook is sent for each of these rows, of the data and by the rights of now; `undefined` for what is not for it,
 * or no more.
 */
export async function composeFor(
  ctx: Pick<Context, 'db' | 'config' | 'now'>,
  webhook: WebhookRow,
  placed: PlacedRow[],
): Promise<Map<PlacedRow, ComposedEvent>> {
  const user_id = principalOf(webhook)
  const visible = await listVisibleRows(ctx, user_id, placed)
  const events = await composeAll(ctx, visible, {
    histories: await listHistories(ctx.db),
    hasSubjects: webhook.user_id === null,
  })
  const chosen = new Set(await chooseSent(ctx, webhook, [...events.values()]))
  const sent = [...events].filter(([, event]) => chosen.has(event))
  return new Map(sent.map(([each, event]) => [each, { id: event.id, body: toSent(ctx, webhook, event).body }]))
}

/** The events among these, which the user of a webhook sees, that the webhook is sent. */
export async function chooseSent(
  ctx: Pick<Context, 'db'>,
  webhook: WebhookRow,
  events: FeedEvent[],
): Promise<FeedEvent[]> {
  const user_id = principalOf(webhook)
  const wish = { user_id, bots: webhook.bots === 1, only_notified: webhook.only_notified === 1 }
  const surroundings = wish.only_notified
    ? await lookAround(ctx, events)
    : { authors: new Map(), direct: new Set<string>() }
  return events.filter((event) => isSent(event, wish, surroundings))
}

async function composeAll(
  ctx: Pick<Context, 'db' | 'config' | 'now'>,
  placed: PlacedRow[],
  composing: Composing,
): Promise<Map<PlacedRow, FeedEvent>> {
  const events = new Map<PlacedRow, FeedEvent>()
  for (let left = placed; left.length > 0; ) {
    const composed = await composeEvents(ctx, left, composing)
    for (const [n, { event }] of composed.entries()) if (event) events.set(left[n]!, event)
    left = left.slice(composed.length)
  }
  return events
}

async function lookAround({ db }: Pick<Context, 'db'>, events: FeedEvent[]) {
  const messages = events.flatMap((event) =>
    event.type === 'message.new' || event.type === 'message.done' ? (event.data.message ?? []) : [],
  )
  const parents = messages.flatMap(({ parent_id }) => parent_id ?? [])
  const conversations = new Set(messages.map(({ conversation_id }) => conversation_id))
  return {
    authors: parents.length > 0 ? await listAuthors(db, parents) : new Map<string, string | null>(),
    direct: await listDirect(db, conversations),
  }
}

/** An event as it is sent, and that as JSON, without the position: with no text where none is wanted, or where it is too large. */
export function toSent(
  { config }: Pick<Context, 'config'>,
  { payload, has_content }: Pick<WebhookRow, 'payload' | 'has_content'>,
  event: FeedEvent,
): { event: FeedEvent; body: string } {
  const { position, ...whole } = event
  const body = JSON.stringify(whole)
  const isThin = payload === 'thin' && has_content === 0
  if (!isThin && Buffer.byteLength(body) <= config.webhooks.max_bytes) return { event, body }
  const { data } = toThin(FeedEvent, event) as { data: Record<string, unknown> }
  const path = pathOf(event.data, event.conversation_id)
  const url = path && { url: linkBaseOf(config) + path }
  const thin = { ...whole, data: { ...data, ...url }, ...(!isThin && { truncated: true }) }
  return { event: { ...thin, position } as FeedEvent, body: JSON.stringify(thin) }
}
