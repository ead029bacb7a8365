import type { Context } from '../../context.ts'
import { type Actor, refuseSystem } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { toInstant } from '../../core/time.ts'
import { useCase } from '../../core/use-case.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { Micros } from '../../storage/sql.ts'
import { setUnread } from '../../storage/unread-counts.ts'
import { type LockedMembership, lockMembership } from '../memberships/access.ts'
import { publishRead } from '../notifications/publishing.ts'
import { reopen } from '../notifications/reopening.ts'
import { readScopes } from '../notifications/scopes.ts'
import { readInConversation } from '../notifications/store-reading.ts'
import { ConversationReadMark, ConversationUnreadMark } from './schema.ts'
import { findUnread, sumStored, type ThreadReader } from './store.ts'
import {
  type ConversationMark,
  findArrivals,
  findNewest,
  readRoots,
  setAllRead,
  unreadRootsFrom,
} from './store-floors.ts'

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
    await mark(
      ctx,
      actor,
      conversationId,
      { message_id, scope, change: `${scope}_read` },
      async (tx, reader, given) => {
        const notified = { ...reader, unread_mentions: reader.unread_mentions ?? 0 }
        const read = await readInConversation(tx, notified, { scope, at: given.at }, ctx.now())
        publishRead(tx, actor.user_id, read)
        const isMoved = await (all ? readAll(tx, reader, given) : readRoots(tx, reader, given))
        if (all || reader.is_direct === 1) await readScopes(tx, notified, undefined, ctx.now())
        return isMoved
      },
    )
  },
})

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

/** Marks all messages as read up to one. Costs as what is unread then: nothing after the newest message. */
async function readAll(tx: Tx, reader: ThreadReader, given: ConversationMark): Promise<boolean> {
  if (given.at <= reader.joined_at) return false
  return setUnread(tx, reader, await sumStored(tx, await setAllRead(tx, reader, given)))
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
    const place = await lockMembership(tx, actor, { conversation_id })
    const newest = await findNewest(tx, conversation_id)
    const at = message_id === undefined ? (newest ?? 0) : await findPlace(tx, conversation_id, message_id, scope)
    const marked_at = Math.max(ctx.now(), place.clock + 1)
    // Also without a change: a later mark must not have the same instant.
    tx.advanceClock(conversation_id, marked_at)
    if (!(await move(tx, { ...place, user_id }, { at, marked_at }))) return undefined
    const { unread, unread_replies } = await findUnread(tx, { conversation_id, user_id })
    const counts = { unread, unread_replies, as_of: toInstant(newest!) }
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
