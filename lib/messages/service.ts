import type { Actor, Context } from '../context.ts'
import { enter, type Place } from '../conversations/access.ts'
import { canPost } from '../conversations/rules.ts'
import { ChatError } from '../errors.ts'
import type { Tx } from '../events/write.ts'
import { toInstant } from '../ids.ts'
import type { Micros } from '../storage/sql.ts'
import { insertThread, touchThread } from '../threads/store.ts'
import { assertContentFits, childPath, ROOT_PATH, toPosted } from './rules.ts'
import { NewMessage, type PostedMessage } from './schema.ts'
import { findMessage, insertMessage, type MessageRow, takeReplyPlace, toMessage } from './store.ts'

/** What each use-case takes last. */
export const inputs = { postRoot: NewMessage, reply: NewMessage }

/**
 * Starts a thread in a conversation and tells it.
 *
 * @throws ChatError `not_found`; `forbidden` for a viewer or a read-only user
 */
export function postRoot(
  ctx: Context,
  actor: Actor,
  conversationId: string,
  input: NewMessage,
): Promise<PostedMessage> {
  assertContentFits(input.content, ctx.config.limits.message_bytes)
  return ctx.write(async (tx) => {
    const place = await enterToPost(ctx, tx, actor, conversationId)
    const id = ctx.id()
    const row = newMessage(actor, input, place.at, {
      id,
      conversation_id: conversationId,
      root_id: id,
      parent_id: null,
      path: ROOT_PATH,
      depth: 0,
    })
    await insertThread(tx, { root_id: id, conversation_id: conversationId, at: place.at, author: actor.user_id })
    await insertMessage(tx, row)
    tx.emit(conversationId, { type: 'thread.new', message_id: id })
    tx.emit(conversationId, { type: 'message.new', message_id: id })
    return toPosted(toMessage(row))
  })
}

/**
 * Adds a reply under a message and tells the conversation.
 *
 * @throws ChatError `not_found` when the parent is in no conversation of the actor's; `forbidden` for a viewer or a
 *   read-only user; `message_deleted` when the parent is; `thread_too_deep`
 */
export function reply(ctx: Context, actor: Actor, parentId: string, input: NewMessage): Promise<PostedMessage> {
  assertContentFits(input.content, ctx.config.limits.message_bytes)
  return ctx.write(async (tx) => {
    const conversation_id = (await findMessage(tx, parentId))?.conversation_id
    if (!conversation_id) throw new ChatError('not_found')
    const place = await enterToPost(ctx, tx, actor, conversation_id)
    const parent = await takeReplyPlace(tx, parentId)
    if (parent.deleted_at) throw new ChatError('message_deleted')
    const depth = parent.depth + 1
    if (depth > ctx.config.limits.max_depth) throw new ChatError('thread_too_deep')

    const { root_id } = parent
    const path = childPath(parent.path, parent.ordinal)
    const row = newMessage(actor, input, place.at, {
      id: ctx.id(),
      conversation_id,
      root_id,
      parent_id: parentId,
      path,
      depth,
    })
    await insertMessage(tx, row)
    await touchThread(tx, root_id, actor.user_id, place.at)
    tx.emit(conversation_id, { type: 'message.new', message_id: row.id })
    tx.announce(conversation_id, {
      type: 'thread.activity',
      payload: { root_id, last_activity_at: toInstant(place.at) },
    })
    return toPosted(toMessage(row))
  })
}

async function enterToPost(
  ctx: Context,
  tx: Tx,
  actor: Actor,
  conversationId: string,
): Promise<Place & { at: Micros }> {
  const place = await enter(ctx, tx, actor, conversationId)
  if (!canPost(place.role)) throw new ChatError('forbidden')
  return place
}

type Position = Pick<MessageRow, 'id' | 'conversation_id' | 'root_id' | 'parent_id' | 'path' | 'depth'>

function newMessage(actor: Actor, input: NewMessage, at: Micros, position: Position): MessageRow {
  const { content, role } = input
  return {
    ...position,
    author_user_id: actor.user_id,
    role,
    content,
    status: 'complete',
    created_at: at,
    edited_at: null,
    deleted_at: null,
  }
}
