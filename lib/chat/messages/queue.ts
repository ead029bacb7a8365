import type { Context } from '../../context.ts'
import type { Access } from '../../core/access.ts'
import { createRecent } from '../../core/recent.ts'
import { createSlots, type Slots } from '../../core/scheduling/slots.ts'
import { createWriteQueue, type WriteQueue } from '../../live/transaction/write-queue.ts'
import type { NewPost, PostContext, Posted } from './batch.ts'
import { addPlainRoots } from './plain-roots.ts'
import { addPosts, isPosted, type PostResult, type QUESTION } from './posting.ts'
import { isPlainRoot } from './rules-plain.ts'

/** How many posts with a key may wait in a process: of a user, and of all users, each with its text in memory. */
const WITH_KEYS = { perKey: 1, maxWaitingPerKey: 1_000, maxWaiting: 4_000 }

/** Stores posts; posts that wait at the same time share a transaction, which stores no questions to the assistant. */
export interface PostQueue extends WriteQueue<NewPost, Posted | typeof QUESTION> {
  /**
   * Stores a post with a key, in a transaction of its own. On PostgreSQL those of a user wait here for each other: they
   * would do so in the database, where each holds a connection, and ten of them all connections of the process.
   */
  addWithKey: Slots['run']
}

/** Creates the queue of posts of one process. Its errors are those of `addPosts`. */
export function createPostQueue(ctx: PostContext & Pick<Context, 'db' | 'write'>): PostQueue {
  const addWithKey: Slots['run'] = ctx.db.dialect === 'sqlite' ? (_user, work) => work() : createSlots(WITH_KEYS).run
  const { isPlain, learn } = createPlainPlaces(ctx.access)
  const queue = createWriteQueue<NewPost, Posted | typeof QUESTION>(ctx, {
    async store(tx, posts, options) {
      if (options.unlessLocked && tx.dialect === 'postgresql' && posts.every(isPlain)) {
        const results = addPlainRoots(ctx, tx, posts)
        return async () => learn(posts, await results())
      }
      return learn(posts, await addPosts(ctx, tx, posts, { ...options, withoutQuestions: true }))
    },
    // New threads together by their conversation, replies by their parent.
    targetOf: ({ where }) => Object.values(where)[0] as string,
    lengthOf: ({ input }) => input.content.length,
    writing: { full_disk: 'refused' },
  })
  return { ...queue, addWithKey }
}

/** How many places are remembered in which a user has posted. */
const MAX_PLACES = 10_000

/**
 * Where the last post of a user has shown that a plain root can be stored at once. Elsewhere the attempt would be one wait more;
 * whether it holds still is up to the statement.
 */
function createPlainPlaces(access: Access) {
  const places = createRecent(MAX_PLACES)
  const placeOf = (conversationId: string, { actor }: NewPost) => `${conversationId} ${actor.user_id}`
  return {
    isPlain: (post: NewPost): boolean =>
      'conversation_id' in post.where &&
      places.has(placeOf(post.where.conversation_id, post)) &&
      isPlainRoot(access, post),
    learn<Results extends readonly PostResult[]>(posts: readonly NewPost[], results: Results): Results {
      for (const [n, post] of posts.entries()) {
        const result = results[n]
        if (isPosted(result) && result.isPlainPlace) places.add(placeOf(result.row.conversation_id, post))
        else if ('conversation_id' in post.where) places.delete(placeOf(post.where.conversation_id, post))
      }
      return results
    },
  }
}
