import type { Context } from '../../context.ts'
import { ChatError } from '../../core/errors.ts'
import { countWithin, fit, jsonBytes } from '../../core/pages.ts'
import { fromInstant } from '../../core/time.ts'
import { useCase } from '../../core/use-case.ts'
import type { Tx } from '../../live/transaction.ts'
import { requireMember } from '../conversations/access.ts'
import type { NewPost, Posted } from './batch.ts'
import { findEarlier, lockKeysOf, type Repeatable, remember } from './idempotency.ts'
import { addPosts } from './posting.ts'
import { listRevisions as findRevisions, listRevisionSizes } from './revisions.ts'
import { assertContentFits, toPosted } from './rules.ts'
import { type Message, Post, type PostedMessage, type Revision, type Revisions, RevisionsQuery } from './schema.ts'
import { findMessage, toMessage, toMessageFor } from './store.ts'

/**
 * Starts a thread in a conversation and publishes an event.
 *
 * @throws ChatError `not_found`; `forbidden` for a viewer or a read-only user; `idempotency_mismatch`;
 *   for a question to the assistant `rate_limited` at the user's limit of answers in progress, `unavailable` at the
 *   service's limit and while the service stops
 */
export const postRoot = useCase({
  takes: ['actor', 'conversation_id'],
  input: Post,
  errors: ['not_found', 'forbidden', 'idempotency_mismatch'],
  run: (ctx, actor, conversation_id, input): Promise<PostedMessage> =>
    post(ctx, { actor, input, where: { conversation_id } }),
})

/**
 * Adds a reply under a message and publishes an event.
 *
 * @throws ChatError `not_found` for a parent outside of the actor's conversations; `forbidden` for a viewer or a
 *   read-only user; `message_deleted` for a deleted parent; `thread_too_deep`; `idempotency_mismatch`; for a
 *   question to the assistant `rate_limited`, `unavailable` as {@link postRoot}
 */
export const reply = useCase({
  takes: ['actor', 'parent_id'],
  input: Post,
  errors: ['not_found', 'forbidden', 'message_deleted', 'thread_too_deep', 'idempotency_mismatch'],
  run: (ctx, actor, parent_id, input): Promise<PostedMessage> => post(ctx, { actor, input, where: { parent_id } }),
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
 * A page of the earlier texts of a message, oldest first; empty for a deleted message.
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

/** Stores a post; after the commit of a question, starts the answer of the assistant. */
async function post(ctx: Context, post: NewPost & { input: Post }): Promise<PostedMessage> {
  const { input } = post
  assertContentFits(input.content, ctx.config.limits.message_bytes)
  if (input.role === 'assistant') ctx.answers.assertOpen()
  const { row, message, isReplayed } = await store(ctx, post)
  if (row.role === 'assistant' && !isReplayed) ctx.answers.start(row)
  return { ...toPosted(message), ...(isReplayed && { idempotency_replayed: 'true' }) }
}

/** Stores a post, unless the same post with the same key was stored before: then it returns that one. */
async function store(ctx: Context, post: NewPost & { input: Post }): Promise<Posted & { isReplayed?: true }> {
  const { actor, input, where } = post
  const { idempotency_key: key, role, content } = input
  if (key === undefined) return role === 'assistant' ? ctx.write((tx) => addPost(ctx, tx, post)) : ctx.posts.add(post)

  const repeatable: Repeatable = {
    user_id: actor.user_id,
    key,
    request: [...Object.values<string>(where), role, content],
  }
  return ctx.write(async (tx) => {
    // Another call with the same key may run at the same time.
    await lockKeysOf(tx, actor.user_id)
    const earlier = await findEarlier(tx, repeatable, ctx.now())
    if (earlier) {
      const row = (await findMessage(tx, earlier))!
      await requireMember(tx, actor, row.conversation_id)
      return { row, message: toMessage(row), isReplayed: true }
    }
    const posted = await addPost(ctx, tx, post)
    tx.defer(remember(tx, repeatable, posted.row.id, ctx.now()))
    return posted
  })
}

/** Stores one post. For a question, this process gets the lease of the answer. @throws ChatError as `addPosts` */
async function addPost(ctx: Context, tx: Tx, post: NewPost): Promise<Posted> {
  const [result] = await addPosts(ctx, tx, [post])
  if (result instanceof ChatError) throw result
  const posted = result as Posted
  if (posted.row.role === 'assistant') await ctx.answers.claim(tx, posted.row)
  return posted
}
