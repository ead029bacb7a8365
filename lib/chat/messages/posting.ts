import { ChatError } from '../../core/errors.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import { createAsking } from './asking.ts'
import { createBatch, type NewPost, type PostContext, type Posted } from './batch.ts'
import { createPostParts } from './post-parts.ts'
import type { LockOptions } from './store-posts.ts'
import { toNewSummary } from './store-summary.ts'

/** A post that turns out to be a question to the assistant, where these are left out. */
export const QUESTION = { is_question: true } as const

/** The result of a post; `undefined` if its conversation is locked, or the actor is no participant of it. */
export type PostResult = Posted | typeof QUESTION | ChatError | undefined

/** Posts whose conversations are locked, with what is needed to decide on them. */
export interface LockedPosts {
  /** @throws ChatError `unauthenticated` for a post whose session has ended, or is not as it was remembered */
  assertConfirmed(post: NewPost): void
  /**
   * Stores them. A refused post changes nothing, and does not affect the other posts.
   *
   * @returns the result of each post, in their order: `unauthenticated` as {@link assertConfirmed}; `not_found` for a target
   *   outside of the actor's conversations; `forbidden` for a viewer or a read-only user; `message_deleted` for a deleted parent; `thread_too_deep`
   */
  store(): Promise<PostResult[]>
}

/** Locks the conversations of posts, and reads what is needed to decide on them. The statements are issued at once. */
export async function lockPosts(
  ctx: PostContext,
  tx: Tx,
  posts: readonly NewPost[],
  options: LockOptions = {},
): Promise<LockedPosts> {
  const targets = posts.map(({ actor, where }, n) => {
    return { n, conversation_id: null, parent_id: null, ...where, user_id: actor.user_id }
  })
  const batch = createBatch(ctx)
  const parts = createPostParts(ctx, posts)
  if (!options.withoutQuestions) parts.push(createAsking(ctx, posts))
  const actors = posts.map(({ actor }) => actor)
  const [places, changed] = await Promise.all([
    // First, so that the others read what no other transaction changes.
    batch.load(tx, targets, options),
    ctx.accounts.remembered?.findChanged(tx, actors),
    ...parts.map((part) => part.load(tx, targets)),
  ])
  return { assertConfirmed, store }

  function assertConfirmed({ actor }: NewPost): void {
    if (changed?.has(actor)) throw new ChatError('unauthenticated')
  }

  async function store(): Promise<PostResult[]> {
    const results = posts.map((post, n): PostResult => {
      const place = places.get(n)
      if (changed?.has(post.actor)) return new ChatError('unauthenticated')
      if (!place) return options.unlessLocked && tx.dialect === 'postgresql' ? undefined : new ChatError('not_found')
      return attempt((): Posted | typeof QUESTION => {
        const role = batch.decide(post, place)
        if (role === 'assistant' && options.withoutQuestions) return QUESTION
        const columns = parts.map((part) => part.decide(post, place))
        const posted = batch.add({ ...post, role }, place, columns)
        for (const part of parts) part.add(posted.row, post, place)
        return posted
      })
    })
    batch.store(tx)
    for (const part of parts) await part.store(tx)
    for (const result of results) if (isPosted(result)) publish(tx, result)
    const archived = [...places.values()].flatMap(({ target }) =>
      target.archived === 1 && isPosted(results[target.n]) ? target : [],
    )
    const shown = archived.map(({ n, conversation_id }) => [posts[n]!.actor.user_id, conversation_id] as const)
    for (const place of new Map(shown.map((place) => [place.join(), place])).values()) tx.publishSettings(...place)
    return results
  }
}

/** Stores any number of posts in one transaction, with the same number of statements. @returns as {@link LockedPosts} */
export async function addPosts(
  ctx: PostContext,
  tx: Tx,
  posts: readonly NewPost[],
  options: LockOptions = {},
): Promise<PostResult[]> {
  const locked = await lockPosts(ctx, tx, posts, options)
  return locked.store()
}

/** Whether a post was stored. */
export const isPosted = (result: PostResult): result is Posted =>
  result !== undefined && result !== QUESTION && !(result instanceof ChatError)

/** Emits the events of a post. */
export function publish(tx: Tx, { row, title, message, thread }: Posted): void {
  const { conversation_id } = row
  tx.advanceClock(conversation_id, row.created_at)
  tx.markActive(conversation_id, row.created_at)
  tx.countMessages(conversation_id, { messages: 1, roots: row.parent_id === null ? 1 : 0 })
  if (row.parent_id === null) {
    const payload = { conversation_id, root_id: row.id, summary: toNewSummary(row, title) }
    tx.emit(conversation_id, { type: 'thread.new', message_id: row.id, payload })
  }
  tx.emit(conversation_id, { type: 'message.new', message_id: row.id, payload: { message, ...(thread && { thread }) } })
}

function attempt<T>(step: () => T): T | ChatError {
  try {
    return step()
  } catch (error) {
    if (error instanceof ChatError) return error
    throw error
  }
}
