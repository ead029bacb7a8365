import type { Context } from '../../context.ts'
import type { ActorInConversation } from '../../core/access.ts'
import { type Actor, isGuest, isProgram } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { countWithin, fit, jsonBytes } from '../../core/pages.ts'
import { setStoredJson } from '../../core/stored-json.ts'
import { fromInstant } from '../../core/time.ts'
import { useCase } from '../../core/use-case.ts'
import { spendBotMessage, spendMessage } from '../../limits/spending.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import { withWholeParts } from '../../storage/answer-parts.ts'
import type { Queries } from '../../storage/database.ts'
import { requireMember, requireReader, unlessOutside } from '../memberships/access.ts'
import { findMembership } from '../memberships/store.ts'
import { addAnswers, listAnswersTo } from './answers-to.ts'
import { mayAskOthers } from './asking.ts'
import type { NewPost, Posted } from './batch.ts'
import type { PostBeside } from './beside.ts'
import { withOwn, withQuotes } from './completing.ts'
import { isPosted, type LockedPosts, lockPosts } from './posting.ts'
import { repeatableOf } from './repeatable.ts'
import { placeOf, reviewPost } from './review-post.ts'
import { assertAsks, assertContentFits, assertNotEmpty, toPosted } from './rules.ts'
import { type Message, type PostedMessage, PostInput, PostRootInput } from './schema.ts'
import { type Revision, type Revisions, RevisionsQuery } from './schema-revisions.ts'
import { findMessage, type MessageRow, toMessageFor } from './store.ts'
import { findEarlier, lockKeysOf, type Repeatable, remember } from './store-idempotency.ts'
import { listRevisions as findRevisions, listRevisionSizes } from './store-revisions.ts'
import { assertProgram, assertStreamable, beginStreaming } from './streaming.ts'

/**
 * Starts a thread in a conversation and publishes an event.
 *
 * @throws ChatError `not_found`; `forbidden` for a viewer or a read-only user; `idempotency_mismatch`;
 *   `conflict` for `mentions.all` in too large a conversation; `not_found`, `attachment_not_ready`, `attachment_refused`
 *   for a file; `not_found`, `message_deleted` for the quoted message, `message_deleted` for the answer of which it asks for a variant; for a question to the assistant `rate_limited` at the user's limit of answers in progress, `unavailable` at the
 *   service's limit and while the service stops
 */
export const postRoot = useCase({
  takes: ['actor', 'conversation_id'],
  input: PostRootInput,
  errors: [
    'not_found',
    'forbidden',
    'conflict',
    'message_deleted',
    'idempotency_mismatch',
    'attachment_not_ready',
    'attachment_refused',
  ],
  run: (ctx, actor, conversation_id, input): Promise<PostedMessage> =>
    post(ctx, { actor, input, where: { conversation_id } }).catch(
      unlessOutside(ctx, actor, { conversation_id }, 'post'),
    ),
})

/**
 * Adds a reply under a message and publishes an event.
 *
 * @throws ChatError `not_found` for a parent outside of the actor's conversations, and a quoted message outside of this one; `forbidden` for a viewer or a
 *   read-only user; `message_deleted` for a deleted parent or quoted message, and an answer of which it asks for a variant; `thread_too_deep`; `idempotency_mismatch`; for a
 *   question to the assistant `rate_limited`, `unavailable` as {@link postRoot}
 */
export const reply = useCase({
  takes: ['actor', 'parent_id'],
  input: PostInput,
  errors: [
    'not_found',
    'forbidden',
    'conflict',
    'message_deleted',
    'thread_too_deep',
    'idempotency_mismatch',
    'attachment_not_ready',
    'attachment_refused',
  ],
  run: (ctx, actor, parent_id, input): Promise<PostedMessage> =>
    post(ctx, { actor, input, where: { parent_id } }).catch(
      unlessOutside(ctx, actor, { message_id: parent_id }, 'reply'),
    ),
})

/** @throws ChatError `not_found` */
export const get = useCase({
  takes: ['actor', 'message_id'],
  errors: ['not_found'],
  run: async (ctx, actor, messageId): Promise<Message> => {
    const row = await findMessage(ctx.db, messageId)
    const { role } = await requireReader(ctx, ctx.db, actor, row?.conversation_id)
    const message = await toRead(ctx, { actor, role }, await withWholeParts(ctx.db, row!))
    const { context, deleted_at } = row!
    if (context && !deleted_at) setStoredJson(message, 'context', context)
    return message
  },
})

/** A row as one reader reads it, with the reader's own reactions. */
async function toRead(
  { access, db }: Pick<Context, 'access'> & { db: Queries },
  reader: ActorInConversation,
  row: MessageRow,
): Promise<Message> {
  const rows = await withQuotes(db, [row])
  const [message] = await withOwn(
    db,
    reader.actor.user_id,
    rows.map((each) => toMessageFor(access, reader, each)),
  )
  return message!
}

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
      await requireReader(ctx, db, actor, row?.conversation_id)
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
export async function post(ctx: Context, post: NewPost & { input: PostRootInput }): Promise<PostedMessage> {
  const { actor, input } = post
  if (input.stream) await assertMayStream(ctx, post)
  if (isGuest(actor)) await spendMessage(ctx, actor.user_id)
  if (actor.is_bot) await spendOfBot(ctx, post)
  assertContentFits(input.content, ctx.config.limits.message_bytes)
  if (!input.stream && !mayLackText(input)) assertNotEmpty(input.content, Boolean(input.attachment_ids?.length))
  if (input.role === 'assistant') assertAsks(input)
  if (input.role === 'assistant' || input.mentions?.assistants?.length) ctx.answers.assertOpen()
  const repeatable = repeatableOf(post)
  // A hook is called for a caller who is certain.
  if (ctx.host.hooks.beforeMessage && ctx.accounts.remembered?.isCertain(actor) === false)
    throw new ChatError('unauthenticated')
  const reviewed = ctx.host.hooks.beforeMessage && (await reviewPost(ctx, post, repeatable))
  if (reviewed?.role === 'assistant') ctx.answers.assertOpen()
  const { row, message, isReplayed, answers } = await store(
    ctx,
    { ...post, input: { ...input, ...reviewed } },
    repeatable,
  )
  // It was left out of the first one, which asked the assistant.
  if (isReplayed && input.role === 'user' && row.role === 'assistant') throw new ChatError('idempotency_mismatch')
  if (row.role === 'assistant' && !isReplayed) ctx.answers.start(row)
  for (const answer of isReplayed ? [] : answers) ctx.answers.start(answer.row)
  return {
    ...toPosted(message),
    ...(answers.length > 0 && { answers: answers.map((answer) => answer.message) }),
    ...(isReplayed && { idempotency_replayed: 'true' }),
  }
}

/** Another answer to a message that is the question has no text of its own. */
const mayLackText = ({ role, variant_of }: PostRootInput) => role === 'assistant' && variant_of !== undefined

/** @throws ChatError `not_found` for an outsider; `forbidden` for a person; `validation_failed`; `conflict`, `unavailable` */
async function assertMayStream(ctx: Context, { actor, input, where }: NewPost & { input: PostRootInput }) {
  if (!isProgram(actor)) {
    // Whether the conversation exists is no outsider's business.
    await requireMember(ctx, ctx.db, actor, await placeOf(ctx.db, where))
    assertProgram(actor)
  }
  ctx.answers.assertMayStream()
  assertStreamable(input)
}

/** Counts a post of a bot in its conversation. One that the bot does not participate in is refused later, and not counted. */
async function spendOfBot(ctx: Context, { actor, where }: NewPost): Promise<void> {
  const id = await placeOf(ctx.db, where)
  if (id !== undefined && (await findMembership(ctx.db, id, actor.user_id)))
    await spendBotMessage(ctx, actor.user_id, id)
}

/** A stored post, with the answers that assistants write to it. */
interface Stored extends Posted {
  answers: readonly Pick<Posted, 'row' | 'message'>[]
  isReplayed?: true
}

/** Stores a post, unless the same post with the same key was stored before: then it returns that one. */
async function store(
  ctx: Context,
  post: NewPost & { input: PostRootInput },
  repeatable: Repeatable | undefined,
): Promise<Stored> {
  const { actor, input } = post
  if (post.beside) return storeBeside(ctx, post, post.beside, repeatable)
  // A post with files waits for them, and no other post with it.
  const isAsked = input.role === 'assistant' || input.stream === true || mayAskOthers(ctx, post)
  const isAlone = isAsked || actor.system !== undefined || Boolean(input.attachment_ids?.length)
  if (!repeatable) {
    const posted = isAlone ? undefined : await ctx.queues.posts.add(post)
    if (isPosted(posted)) return { ...posted, answers: [] }
    return ctx.write(async (tx) => addPost(ctx, tx, post, await lockPost(ctx, tx, post)), { full_disk: 'refused' })
  }

  const storeOnce = async (tx: Tx): Promise<Stored> => {
    // Issued together, and run in this order: another call with the same key may run at the same time, in another process.
    const [, earlier, locked] = await Promise.all([
      lockKeysOf(tx, actor.user_id),
      findEarlier(tx, repeatable, ctx.now()),
      lockPost(ctx, tx, post),
    ])
    if (earlier) {
      locked.assertConfirmed(post)
      return readEarlier(ctx, tx, actor, earlier)
    }
    const posted = await addPost(ctx, tx, post, locked)
    tx.defer(remember(tx, repeatable, posted.row.id, ctx.now()))
    return posted
  }
  return ctx.queues.posts.addWithKey(actor.user_id, () => ctx.write(storeOnce, { full_disk: 'refused' }))
}

/** Stores a question with what a protocol does beside it, unless it was stored before. */
function storeBeside(
  ctx: Context,
  post: NewPost & { input: PostRootInput },
  beside: PostBeside,
  repeatable: Repeatable | undefined,
): Promise<Stored> {
  const { actor } = post
  const storeOnce = async (tx: Tx): Promise<Stored> => {
    await lockKeysOf(tx, actor.user_id)
    const earlier = repeatable && (await findEarlier(tx, repeatable, ctx.now()))
    if (earlier) return readEarlier(ctx, tx, actor, earlier)
    await beside.before(tx)
    const posted = await addPost(ctx, tx, post, await lockPost(ctx, tx, post))
    await beside.after(tx, posted.row)
    if (repeatable) tx.defer(remember(tx, repeatable, posted.row.id, ctx.now()))
    return posted
  }
  return ctx.queues.posts.addWithKey(actor.user_id, () => ctx.write(storeOnce, { full_disk: 'refused' }))
}

/** The message of an earlier, equal post. */
async function readEarlier(ctx: Context, tx: Tx, actor: Actor, id: string): Promise<Stored> {
  const row = (await findMessage(tx, id))!
  const { role } = await requireMember(ctx, tx, actor, row.conversation_id)
  const [message, ...answers] = await Promise.all(
    [row, ...(await listAnswersTo(tx, row))].map(async (each) => ({
      row: each,
      message: await toRead({ access: ctx.access, db: tx }, { actor, role }, each),
    })),
  )
  return { ...message!, answers, isReplayed: true }
}

/** The message of an earlier question of a protocol with this key. @throws ChatError `idempotency_mismatch` for another question */
export function findAsked(
  ctx: Context,
  actor: Actor,
  { key, identity }: { key: string; identity: readonly string[] },
): Promise<string | undefined> {
  return findEarlier(ctx.db, { user_id: actor.user_id, key, request: identity }, ctx.now())
}

const lockPost = (ctx: Context, tx: Tx, post: NewPost): Promise<LockedPosts> =>
  lockPosts(ctx, tx, [post], { isSystem: post.actor.system !== undefined })

/** Stores a locked post. For a question, this process gets the lease of the answer. @throws ChatError as `addPosts` */
async function addPost(ctx: Context, tx: Tx, post: NewPost, locked: LockedPosts): Promise<Stored> {
  const [result] = await locked.store()
  if (result instanceof ChatError) throw result
  const posted = result as Posted
  if (posted.row.role === 'assistant') {
    // Checked before where the role was known: such a question is stored although the service stops meanwhile.
    if (post.input.role !== 'assistant') ctx.answers.assertOpen()
    await ctx.answers.claim(tx, posted.row, post.actor.roles)
  }
  if (post.input.stream) await beginStreaming(tx, post, posted.row, { max: ctx.config.bots.max_streaming })
  return { ...posted, answers: await addAnswers(ctx, tx, post, posted.row) }
}
