import { lockUser } from '../../accounts/users/store.ts'
import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { countWithin, fit, jsonBytes } from '../../core/pages.ts'
import { fromInstant } from '../../core/time.ts'
import { useCase } from '../../core/use-case.ts'
import type { Tx } from '../../live/transaction.ts'
import type { Micros } from '../../storage/sql.ts'
import { type LockedForChange, lockAsMember, requireMember, type Where } from '../conversations/access.ts'
import { canPost } from '../conversations/rules.ts'
import { findEarlier, type Repeatable, remember } from './idempotency.ts'
import { listRevisions as findRevisions, listRevisionSizes } from './revisions.ts'
import { assertContentFits, childPath, ROOT_PATH, toPosted } from './rules.ts'
import { type Message, Post, type PostedMessage, type Revision, type Revisions, RevisionsQuery } from './schema.ts'
import { findMessage, insertMessage, type MessageRow, takeReplyPlace, toMessage, toMessageFor } from './store.ts'
import { countReply, insertThread } from './store-threads.ts'

/**
 * Starts a thread in a conversation and tells it.
 *
 * @throws ChatError `not_found`; `forbidden` for a viewer or a read-only user; `idempotency_mismatch`;
 *   for a question to the assistant `rate_limited` with too many under way, `unavailable` when all have too many, or
 *   the service stops
 */
export const postRoot = useCase({
  takes: ['actor', 'conversation_id'],
  input: Post,
  errors: ['not_found', 'forbidden', 'idempotency_mismatch'],
  run: (ctx, actor, conversationId, input): Promise<PostedMessage> => {
    return post(ctx, actor, conversationId, input, async (tx) => {
      const { at } = await lockToPost(ctx, tx, actor, { conversation_id: conversationId })
      const id = ctx.id()
      const position = { id, conversation_id: conversationId, root_id: id, parent_id: null, path: ROOT_PATH, depth: 0 }
      const row = newMessage(actor, input, at, position)
      await insertThread(tx, { root_id: id, conversation_id: conversationId, at, author: actor.user_id })
      await insertPosted(ctx, tx, row)
      tx.emit(conversationId, { type: 'thread.new', message_id: id })
      tx.emit(conversationId, { type: 'message.new', message_id: id })
      return { row, message: toMessage(row) }
    })
  },
})

/**
 * Adds a reply under a message and tells the conversation.
 *
 * @throws ChatError `not_found` when the parent is in no conversation of the actor's; `forbidden` for a viewer or a
 *   read-only user; `message_deleted` when the parent is; `thread_too_deep`; `idempotency_mismatch`; for a
 *   question to the assistant `rate_limited`, `unavailable` as {@link postRoot}
 */
export const reply = useCase({
  takes: ['actor', 'parent_id'],
  input: Post,
  errors: ['not_found', 'forbidden', 'message_deleted', 'thread_too_deep', 'idempotency_mismatch'],
  run: (ctx, actor, parentId, input): Promise<PostedMessage> => {
    return post(ctx, actor, parentId, input, async (tx) => {
      const { conversation_id, at } = await lockToPost(ctx, tx, actor, { message_id: parentId })
      const parent = await takeReplyPlace(tx, parentId)
      if (parent.deleted_at) throw new ChatError('message_deleted')
      const depth = parent.depth + 1
      if (depth > ctx.config.limits.max_depth) throw new ChatError('thread_too_deep')

      const { root_id } = parent
      const path = childPath(parent.path, parent.ordinal)
      const position = { id: ctx.id(), conversation_id, root_id, parent_id: parentId, path, depth }
      const row = newMessage(actor, input, at, position)
      await insertPosted(ctx, tx, row)
      await countReply(tx, root_id, actor.user_id, at)
      const message = toMessage(row)
      tx.emit(conversation_id, { type: 'message.new', message_id: row.id, payload: { message } })
      const payload = { root_id, last_activity_at: message.created_at }
      tx.publishEphemeral(conversation_id, { type: 'thread.activity', payload })
      return { row, message }
    })
  },
})

/** @throws ChatError `not_found` */
export const get = useCase({
  takes: ['actor', 'message_id'],
  errors: ['not_found'],
  run: async (ctx, actor, messageId): Promise<Message> => {
    const row = await findMessage(ctx.db, messageId)
    const { role } = await requireMember(ctx.db, actor, row?.conversation_id)
    return toMessageFor({ actor, role }, row!)
  },
})

/**
 * A page of what a message said before its edits, oldest first; nothing of a deleted one.
 *
 * @throws ChatError `not_found`
 */
export const listRevisions = useCase({
  takes: ['actor', 'message_id'],
  input: RevisionsQuery,
  errors: ['not_found'],
  run: (ctx, actor, messageId, { after, limit }): Promise<Revisions> => {
    return ctx.db.snapshot(async (db) => {
      const row = await findMessage(db, messageId)
      await requireMember(db, actor, row?.conversation_id)
      if (row!.deleted_at) return { revisions: [] }
      const from = after === undefined ? 0 : fromInstant(after)
      const sizes = await listRevisionSizes(db, messageId, from, limit + 1)
      const read = sizes.slice(0, Math.min(limit, countWithin(sizes.map((each) => each.size))))
      const revisions = fit(await findRevisions(db, messageId, from, read.at(-1)?.replaced_at ?? from), sizeOfRevision)
      return { revisions, ...(revisions.length < sizes.length && { next_after: revisions.at(-1)!.replaced_at }) }
    })
  },
})

const sizeOfRevision = ({ content, reason = '' }: Revision) => jsonBytes(content) + jsonBytes(reason) + 100

/** A message as it is stored, and as everybody reads it. */
interface Made {
  row: MessageRow
  message: Message
  isReplayed?: true
}

/** Posts, and has the assistant write what was asked of it, once that is durable. */
async function post(
  ctx: Context,
  actor: Actor,
  target: string,
  input: Post,
  make: (tx: Tx) => Promise<Made>,
): Promise<PostedMessage> {
  assertContentFits(input.content, ctx.config.limits.message_bytes)
  if (input.role === 'assistant') ctx.answers.assertOpen()
  const { row, message, isReplayed } = await postOnce(ctx, actor, target, input, make)
  if (row.role === 'assistant' && !isReplayed) ctx.answers.start(row)
  return { ...toPosted(message), ...(isReplayed && { idempotency_replayed: 'true' }) }
}

/** Posts, unless the same post with the same key was there before: then it is what that one made. */
async function postOnce(
  ctx: Context,
  actor: Actor,
  target: string,
  input: Post,
  make: (tx: Tx) => Promise<Made>,
): Promise<Made> {
  const { idempotency_key: key, role, content } = input
  if (key === undefined) return ctx.write(make)

  const post: Repeatable = { user_id: actor.user_id, key, request: [target, role, content] }
  return ctx.write(async (tx) => {
    // The same key may be on its way elsewhere at this moment.
    await lockUser(tx, actor.user_id)
    const earlier = await findEarlier(tx, post, ctx.now())
    if (earlier) {
      const row = (await findMessage(tx, earlier))!
      await requireMember(tx, actor, row.conversation_id)
      return { row, message: toMessage(row), isReplayed: true }
    }
    const made = await make(tx)
    await remember(tx, post, made.row.id, ctx.now())
    return made
  })
}

/** Stores a new message; an answer is this process's to write from then on. */
async function insertPosted(ctx: Context, tx: Tx, row: MessageRow): Promise<void> {
  await insertMessage(tx, row)
  if (row.role === 'assistant') await ctx.answers.claim(tx, row)
}

/** As `lockAsMember`, for those who may post. @throws ChatError `not_found`, `forbidden` */
export async function lockToPost(ctx: Context, tx: Tx, actor: Actor, where: Where): Promise<LockedForChange> {
  const entered = await lockAsMember(ctx, tx, actor, where)
  if (!canPost(entered.role)) throw new ChatError('forbidden')
  return entered
}

type Position = Pick<MessageRow, 'id' | 'conversation_id' | 'root_id' | 'parent_id' | 'path' | 'depth'>

function newMessage(actor: Actor, post: Post, created_at: Micros, position: Position): MessageRow {
  const isAsked = post.role === 'assistant'
  return {
    id: position.id,
    conversation_id: position.conversation_id,
    root_id: position.root_id,
    parent_id: position.parent_id,
    posted_by: actor.user_id,
    role: post.role,
    content: isAsked ? '' : post.content,
    path: position.path,
    depth: position.depth,
    status: isAsked ? 'streaming' : 'complete',
    created_at,
    edited_at: null,
    deleted_at: null,
    deleted_by: null,
    delete_reason: null,
    prompt: isAsked ? post.content : null,
    finish_reason: null,
    usage: null,
  }
}
