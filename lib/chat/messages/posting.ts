import { ChatError } from '../../core/errors.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import { createAttaching } from '../attachments/attaching.ts'
import { createBatch, type NewPost, type PostContext, type Posted } from './batch.ts'
import { createMentioning } from './mentioning.ts'
import { insertPosts, listParents, lockTargets } from './store-posts.ts'
import { toNewSummary } from './store-summary.ts'

/** The result of a post; `undefined` if its conversation is locked, or the actor is no participant of it. */
export type PostResult = Posted | ChatError | undefined

/**
 * Stores any number of posts in one transaction, with the same number of statements.
 *
 * A refused post changes nothing, and does not affect the other posts.
 *
 * @param options.unlessLocked skips conversations that other transactions have locked, on PostgreSQL
 * @param options.isSystem whether system actors post, which participate in no conversation
 * @returns the result of each post, in their order: `not_found` for a target outside of the actor's conversations;
 *   `forbidden` for a viewer or a read-only user; `message_deleted` for a deleted parent; `thread_too_deep`
 */
export async function addPosts(
  ctx: PostContext,
  tx: Tx,
  posts: readonly NewPost[],
  options: { unlessLocked?: boolean; isSystem?: boolean } = {},
): Promise<PostResult[]> {
  const targets = posts.map(({ actor, where }, n) => {
    return { n, conversation_id: null, parent_id: null, ...where, user_id: actor.user_id }
  })
  const mentioning = createMentioning(ctx, posts)
  const attaching = createAttaching(ctx, posts)
  const [locked, parents] = await Promise.all([
    lockTargets(tx, targets, options),
    listParents(tx, targets),
    mentioning.load(tx, targets),
    attaching.load(tx),
  ])
  const lockedBy = new Map(locked.map((each) => [each.n, each]))
  const parentBy = new Map(parents.map((each) => [each.n, each]))
  const batch = createBatch(ctx)
  const results = posts.map((post, n): PostResult => {
    const target = lockedBy.get(n)
    if (!target) return options.unlessLocked && tx.dialect === 'postgresql' ? undefined : new ChatError('not_found')
    return attempt(() => {
      const posted = batch.add(post, target, parentBy.get(n), {
        mentioned: () => mentioning.decide(target, post),
        files: () => attaching.listOf(post, target.conversation_id),
      })
      mentioning.add(posted, target, parentBy.get(n))
      attaching.add(posted.row.id, post, posted.row.attachment_list)
      return posted
    })
  })
  tx.defer(insertPosts(tx, batch.additions()))
  attaching.store(tx)
  await mentioning.store(tx)
  for (const result of results) if (isPosted(result)) publish(tx, result)
  const archived = locked.filter((target) => target.archived === 1 && isPosted(results[target.n]))
  const shown = archived.map(({ n, conversation_id }) => [posts[n]!.actor.user_id, conversation_id] as const)
  for (const place of new Map(shown.map((each) => [each.join(), each])).values()) tx.publishSettings(...place)
  return results
}

const isPosted = (result: PostResult): result is Posted => result !== undefined && !(result instanceof ChatError)

function publish(tx: Tx, { row, message }: Posted): void {
  const { conversation_id } = row
  tx.advanceClock(conversation_id, row.created_at)
  tx.markActive(conversation_id, row.created_at)
  tx.countMessages(conversation_id, 1)
  if (row.parent_id === null) {
    const payload = { conversation_id, root_id: row.id, summary: toNewSummary(row) }
    tx.emit(conversation_id, { type: 'thread.new', message_id: row.id, payload })
  }
  tx.emit(conversation_id, { type: 'message.new', message_id: row.id, payload: { message } })
}

function attempt<T>(step: () => T): T | ChatError {
  try {
    return step()
  } catch (error) {
    if (error instanceof ChatError) return error
    throw error
  }
}
