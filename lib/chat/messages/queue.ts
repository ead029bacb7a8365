import type { Context } from '../../context.ts'
import { createWriteQueue, type WriteQueue } from '../../live/write-queue.ts'
import type { NewPost, Posted } from './batch.ts'
import { addPosts } from './posting.ts'

/** Stores posts; posts that wait at the same time share a transaction. */
export type PostQueue = WriteQueue<NewPost, Posted>

/** Creates the queue of posts of one process. Its errors are those of `addPosts`. */
export function createPostQueue(ctx: Pick<Context, 'config' | 'db' | 'now' | 'id' | 'write'>): PostQueue {
  return createWriteQueue<NewPost, Posted>(ctx, {
    store: (tx, posts, options) => addPosts(ctx, tx, posts, options),
    // New threads together by their conversation, replies by their parent.
    targetOf: ({ where }) => Object.values(where)[0] as string,
    lengthOf: ({ input }) => input.content.length,
  })
}
