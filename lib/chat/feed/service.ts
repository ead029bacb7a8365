import type { Context } from '../../context.ts'
import { type Actor, assertUser } from '../../core/actor.ts'
import { turnedOff } from '../../core/errors.ts'
import { parseKnown } from '../../core/use-case.ts'
import type { FeedRow, Place } from '../../live/feed/feed-order.ts'
import { eventId, parseEventId, type ResetReason } from '../../live/log/event-ids.ts'
import { listHistories } from '../../storage/histories.ts'
import { requireMember } from '../memberships/access.ts'
import { parseTypes } from './rules.ts'
import { type Scanned, scan, type Wanted } from './scan.ts'
import { type FeedEvent, type FeedPage, FeedQuery } from './schema.ts'
import { createVisit } from './visit.ts'

/** What `chat.feed.read` takes. */
export interface FeedOptions {
  /** A position that an earlier call returned, or the id of an event of the stream of all conversations. */
  after?: string
  /** Separated by commas. Default: `*`. */
  types?: string
  /** Only the events of this conversation. */
  conversation_id?: string
  /** Only the events that this webhook of the actor, or of a bot of the actor, is sent. */
  webhook_id?: string
  /** The number of events. Default: 100; maximum: 1,000. */
  limit?: number
  /** How long to wait for an event if there is none. Default: 0; maximum: 50. */
  wait_seconds?: number
  /** Ends a wait: the call returns what it has. */
  signal?: AbortSignal
}

/** What a webhook is sent. */
export interface Selection {
  /** Whose events they are, by whose rights. */
  user_id: string
  /** What is read of the log. */
  wants(row: FeedRow): boolean
  /** What is returned of these events, by event: others are left out. */
  choose(events: FeedEvent[]): Promise<ReadonlyMap<FeedEvent, FeedEvent>>
}

/**
 * The next events of all the actor's conversations after a position, as programs get them: each once, in the order of the
 * stream. A system actor reads all conversations.
 *
 * @param select what a webhook of the actor is sent
 * @throws ChatError `validation_failed`; `forbidden` for the operator; `not_found` for another's conversation;
 *   `too_many_streams`; `unavailable` while the service drains; `unauthenticated` when the session or key of the actor ends
 */
export async function readSelected(
  ctx: Context,
  actor: Actor,
  options: FeedOptions,
  select: (webhookId: string) => Promise<Selection>,
): Promise<FeedPage> {
  const { signal, ...input } = options
  const { after, types, conversation_id, webhook_id, limit, wait_seconds } = parseKnown(FeedQuery, input)
  assertUser(actor)
  const selection = webhook_id === undefined ? undefined : await select(webhook_id)
  const names = parseTypes(types)
  if (conversation_id !== undefined) await requireMember(ctx, ctx.db, actor, conversation_id)
  const wants: Wanted['wants'] = (row) =>
    names.has(row.type) &&
    (conversation_id === undefined || row.conversation_id === conversation_id) &&
    (selection === undefined || selection.wants(row))
  if (actor.is_bot) ctx.streams.presence.noteReading(actor.user_id)
  const visit = createVisit(ctx, actor, { signal })
  await visit.enter()
  try {
    const is_system = actor.system !== undefined
    const reader = { user_id: selection?.user_id ?? actor.user_id, is_system, wants }
    const wanted = { ...reader, choose: selection?.choose, limit, epoch: await ctx.streams.hub.feed.epoch() }
    const page = await readAfter(ctx, after, wanted, () => visit.wait({ ...reader, ms: wait_seconds * 1000 }))
    await visit.assertAllowed()
    return page
  } finally {
    visit.leave()
  }
}

/** @param next resolves when there may be an event, to false when the call must return */
async function readAfter(
  ctx: Context,
  after: string | undefined,
  wanted: Wanted,
  next: () => Promise<boolean>,
): Promise<FeedPage> {
  const { feed } = ctx.streams.hub
  const positionOf = (place: Place) => eventId(wanted.epoch, feed.format(place))
  const start = after === undefined ? undefined : startOf(ctx, after, wanted.epoch)
  if (start === undefined || 'reason' in start)
    return { events: [], position: positionOf(await feed.head()), ...(start && { reset: start }) }

  const composing = { histories: await listHistories(ctx.db), hasSubjects: wanted.is_system }
  let scanned = await scan(ctx, start.place, wanted, composing)
  const reason = await lossOf(ctx, start.place, scanned)
  if (reason) return { events: [], position: positionOf(await feed.head()), reset: { reason } }
  while (scanned.events.length === 0 && !scanned.has_more && (await next()))
    scanned = await scan(ctx, scanned.place, wanted, composing)
  const { events, place, has_more } = scanned
  return { events, position: positionOf(place), ...(has_more && { more: true as const }) }
}

function startOf({ streams }: Context, after: string, epoch: string): { place: Place } | { reason: ResetReason } {
  const { epoch: history, place } = parseEventId(after, streams.hub.feed.parse)
  if (place === undefined) return { reason: 'malformed' }
  return history === epoch ? { place } : { reason: 'unknown' }
}

/** Why events after a place are missing. Looked up after they were read: retention may have deleted some until then. */
async function lossOf({ streams }: Context, place: Place, { has_rows }: Scanned): Promise<ResetReason | undefined> {
  const { feed } = streams.hub
  if (await feed.isExpired(place)) return 'expired'
  return !has_rows && (await feed.isFuture(place)) ? 'future' : undefined
}

/** @throws ChatError `not_found` unless bots, hooks or webhooks are on */
export function assertServed({ config }: Pick<Context, 'config'>): void {
  if (!config.bots.enabled && !config.hooks.enabled && !config.webhooks.enabled)
    throw turnedOff('bots.enabled, hooks.enabled and webhooks.enabled')
}
