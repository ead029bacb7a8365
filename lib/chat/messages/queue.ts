import type { Context } from '../../context.ts'
import { createSlots, type Slots } from '../../core/scheduling/slots.ts'
import { createWriteQueue, type WriteQueue } from '../../live/transaction/write-queue.ts'
import type { NewPost, Posted } from './batch.ts'
import { addPosts, type QUESTION } from './posting.ts'

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
export function createPostQueue(ctx: Pick<Context, 'accounts' | 'config' | 'db' | 'now' | 'id' | 'write'>): PostQueue {
  const addWithKey: Slots['run'] = ctx.db.dialect === 'sqlite' ? (_user, work) => work() : createSlots(WITH_KEYS).run
  const queue = createWriteQueue<NewPost, Posted | typeof QUESTION>(ctx, {
    store: (tx, posts, options) => addPosts(ctx, tx, posts, { ...options, withoutQuestions: true }),
    // New threads together by their conversation, replies by their parent.
    targetOf: ({ where }) => Object.values(where)[0] as string,
    lengthOf: ({ input }) => input.content.length,
    writing: { full_disk: 'refused' },
  })
  return { ...queue, addWithKey }
}
