import type { Context } from '../../context.ts'
import { type Actor, assertPerson, refuseSystem } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { fromInstant, toInstant } from '../../core/time.ts'
import { useCase } from '../../core/use-case.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { Micros } from '../../storage/sql.ts'
import { type LockedMembership, lockMembership } from '../memberships/access.ts'
import { publishRead } from '../notifications/publishing.ts'
import { reopen } from '../notifications/reopening.ts'
import { readScopes } from '../notifications/scopes.ts'
import { listUnreadOfService, readOfService } from '../notifications/store-of-service.ts'
import { lockAll, readInConversation } from '../notifications/store-reading.ts'
import { readEverything } from './everything.ts'
import { ConversationReadMark, ConversationUnreadMark, ReadAllMark } from './schema.ts'
import { findUnread, type ThreadReader } from './store.ts'
import { listUnread } from './store-everything.ts'
import { type ConversationMark, findArrivals, findNewest, readRoots, unreadRootsFrom } from './store-floors.ts'

/**
 * Marks the roots of a conversation as read that arrived up to a message, or all of them; with `all`, all messages. The
 * notifications of what is read are read, too. The actor's own streams get events.
 *
 * @throws ChatError `not_found`, also for a message that is not in the conversation; `forbidden` for a system actor
 */
export const markRead = useCase({
  takes: ['actor', 'conversation_id'],
  input: ConversationReadMark,
  errors: ['not_found'],
  run: async (ctx, actor, conversationId, { message_id, all }): Promise<void> => {
    const scope = all ? 'all' : 'roots'
    const move = all ? readAll(ctx) : readRootsUpTo(ctx)
    await mark(ctx, actor, conversationId, { message_id, scope, change: `${scope}_read` }, move)
  },
})

/** The conversations with later messages that are marked in one transaction. */
const MAX_PARTS = 50

/**
 * Marks all messages in all of the actor's conversations as read that arrived up to an instant, by default those stored by now,
 * as {@link markRead} with `all` does. The actor's own streams get one event.
 *
 * @throws ChatError `forbidden` for a system actor and the operator
 */
export const markAllRead = useCase({
  takes: ['actor'],
  input: ReadAllMark,
  run: async (ctx, actor, { up_to }): Promise<void> => {
    assertPerson(actor)
    const now = ctx.now()
    const end = up_to === undefined ? now : fromInstant(up_to)
    const unread = await listUnread(ctx.db, actor.user_id)
    // A later instant is none: what is stored is read, although the clock of the node that has stored it may be ahead.
    const last = end < now ? end : unread.reduce((latest, { clock }) => Math.max(latest, clock), now)
    const ids = new Set(unread.map(({ id }) => id))
    await markUpTo(ctx, actor.user_id, ids, last)
    // A post that began before `now` may have been stored since. Its event came before that of the mark, which has cleared it.
    const missed = (await listUnread(ctx.db, actor.user_id)).filter(({ id }) => !ids.has(id))
    await markUpTo(ctx, actor.user_id, new Set(missed.map(({ id }) => id)), last)
    await readNotificationsOfService(ctx, actor.user_id, last)
  },
})

async function readNotificationsOfService(ctx: Context, user_id: string, up_to: Micros): Promise<void> {
  const unread = await listUnreadOfService(ctx.db, user_id, up_to)
  if (unread.length === 0) return
  await ctx.write(async (tx) => publishRead(tx, user_id, await readOfService(tx, user_id, unread, ctx.now())))
}

/** Marks what arrived in conversations up to an instant as read, in as many transactions as it takes. */
async function markUpTo(ctx: Context, user_id: string, ids: ReadonlySet<string>, last: Micros): Promise<void> {
  let isChanged = false
  for (let rest = [...ids]; rest.length > 0; ) {
    const mark = { up_to: last, added_to: last, now: ctx.now(), limit: MAX_PARTS }
    const read = await ctx.write(async (tx) => {
      await lockAll(tx, rest)
      const read = await readEverything(tx, user_id, rest, mark)
      isChanged ||= read.moved.length + read.notifications.length > 0 || read.has_changed_notifications
      // Before the last one it clears nothing, but what is later is read again: this process may end before.
      const up_to = toInstant(read.rest.length > 0 ? 0 : last)
      if (isChanged) tx.publishToInboxes([user_id], { type: 'unread.cleared', payload: { up_to, unread: 0 } })
      return read
    })
    rest = read.rest
    for (const place of read.moved) ctx.streams.receipts.movedIn(place, user_id, 'all')
  }
}

/**
 * Marks the roots of a conversation as unread from a message on: those of others that arrived since the actor joined. Their
 * notifications are unread, too. The actor's own streams get events.
 *
 * @throws ChatError `not_found`, `forbidden` as {@link markRead}
 */
export const markUnread = useCase({
  takes: ['actor', 'conversation_id'],
  input: ConversationUnreadMark,
  errors: ['not_found'],
  run: async (ctx, actor, conversationId, { message_id }): Promise<void> => {
    const change = { message_id, scope: 'roots', change: 'roots_unread' } as const
    await mark(ctx, actor, conversationId, change, (tx, reader, given) =>
      reopen(tx, { ...reader, unread_mentions: reader.unread_mentions ?? 0 }, { from: given.at }, () =>
        unreadRootsFrom(tx, reader, given),
      ),
    )
  },
})

/** Marks all messages as read up to one, and their notifications. */
const readAll =
  (ctx: Context): Move =>
  async (tx, { user_id, conversation_id }, { at }) => {
    const mark = { up_to: at, added_to: Number.MAX_SAFE_INTEGER, now: ctx.now() }
    const { moved, notifications, has_changed_notifications } = await readEverything(
      tx,
      user_id,
      [conversation_id],
      mark,
    )
    publishRead(tx, user_id, notifications)
    if (has_changed_notifications) tx.publishCounts([user_id])
    return moved.length > 0
  }

/** Marks the roots as read up to one, and their notifications. */
const readRootsUpTo =
  (ctx: Context): Move =>
  async (tx, reader, given) => {
    const notified = { ...reader, unread_mentions: reader.unread_mentions ?? 0 }
    publishRead(tx, reader.user_id, await readInConversation(tx, notified, { scope: 'roots', at: given.at }, ctx.now()))
    const isMoved = await readRoots(tx, reader, given)
    if (reader.is_direct === 1) await readScopes(tx, notified, undefined, ctx.now())
    return isMoved
  }

interface Change {
  message_id: string | undefined
  scope: 'roots' | 'all'
  change: 'roots_read' | 'all_read' | 'roots_unread'
}

/** Marks a conversation. @returns false if nothing has changed */
type Move = (tx: Tx, reader: LockedMembership & ThreadReader, given: ConversationMark) => Promise<boolean>

/** Marks the actor's conversation by `move`, and publishes what is unread then. */
async function mark(
  ctx: Context,
  actor: Actor,
  conversation_id: string,
  { message_id, scope, change }: Change,
  move: Move,
): Promise<void> {
  refuseSystem(actor)
  const { user_id } = actor
  const moved = await ctx.write(async (tx) => {
    const place = await lockMembership(ctx, tx, actor, { conversation_id })
    const newest = await findNewest(tx, conversation_id)
    const at = message_id === undefined ? (newest ?? 0) : await findPlace(tx, conversation_id, message_id, scope)
    const marked_at = Math.max(ctx.now(), place.clock + 1)
    // Also without a change: a later mark must not have the same instant.
    tx.advanceClock(conversation_id, marked_at)
    if (!(await move(tx, { ...place, user_id }, { at, marked_at }))) return undefined
    const { unread, unread_replies } = await findUnread(tx, { conversation_id, user_id })
    const counts = { unread, unread_replies, as_of: toInstant(newest ?? 0) }
    const payload = { conversation_id, change, at: toInstant(at), ...counts }
    tx.publishToUser(user_id, conversation_id, { type: 'conversation.unread', payload })
    return place
  })
  if (moved) ctx.streams.receipts.movedIn(moved, user_id, scope)
}

/** The arrival that a mark names: of a message, or of its root. @throws ChatError `not_found` */
async function findPlace(tx: Tx, conversationId: string, messageId: string, scope: 'roots' | 'all'): Promise<Micros> {
  const arrivals = await findArrivals(tx, conversationId, messageId)
  if (!arrivals) throw new ChatError('not_found')
  return scope === 'all' ? arrivals.at : arrivals.root_at
}
