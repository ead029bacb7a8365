import type { Context } from '../../context.ts'
import { createBatches } from '../../core/batches.ts'
import { ChatError } from '../../core/errors.ts'
import type { NewPost, Posted } from './batch.ts'
import { addPosts, type PostResult } from './posting.ts'

/** A post that waits for its transaction. */
interface Waiting {
  post: NewPost
  resolve: (posted: Posted) => void
  reject: (error: unknown) => void
}

/** Stores posts; posts that wait at the same time share a transaction. */
export interface PostQueue {
  /** @throws ChatError as `addPosts` */
  add(post: NewPost): Promise<Posted>
}

/** Creates the queue of posts of one process. */
export function createPostQueue(ctx: Pick<Context, 'config' | 'db' | 'now' | 'id' | 'write'>): PostQueue {
  const batches = createBatches<Waiting>(commit, {
    lengthOf: ({ post }) => post.input.content.length,
    ...(ctx.db.dialect === 'sqlite'
      ? // The writers of SQLite wait for the other requests of this turn anyway.
        { defer: (run) => run() }
      : // A batch costs PostgreSQL as much as five of its posts. Posts arrive in two groups: one while the other is stored.
        { gathering: { batches: 2, ms: 3 } }),
  })

  /** Skips conversations that another process has locked, so that the posts to other conversations do not wait. */
  async function commit(take: () => Waiting[]): Promise<void> {
    let batch: Waiting[] | undefined
    try {
      const results = await ctx.write((tx) => {
        batch ??= take()
        return addPosts(ctx, tx, postsOf(batch), { unlessLocked: true })
      })
      const locked = batch!.filter((waiting, index) => !settle(waiting, results[index]))
      for (const group of byTarget(locked)) void commitAlone(group)
    } catch (error) {
      fail(batch ?? take(), error)
    }
  }

  /** Stores posts with the same target, and waits for the lock of its conversation. */
  async function commitAlone(group: Waiting[]): Promise<void> {
    try {
      const results = await ctx.write((tx) => addPosts(ctx, tx, postsOf(group)))
      for (const [index, waiting] of group.entries()) settle(waiting, results[index])
    } catch (error) {
      fail(group, error)
    }
  }

  /** After a failure that may be due to one post, stores each post in a transaction of its own. */
  function fail(batch: Waiting[], error: unknown): void {
    if (batch.length === 1 || error instanceof ChatError) for (const waiting of batch) waiting.reject(error)
    else for (const waiting of batch) void commitAlone([waiting])
  }

  return {
    add: (post) => new Promise((resolve, reject) => batches.add({ post, resolve, reject })),
  }
}

/** @returns false if the post has no result */
function settle({ resolve, reject }: Waiting, result: PostResult): boolean {
  if (result instanceof ChatError) reject(result)
  else if (result) resolve(result)
  return result !== undefined
}

const postsOf = (batch: Waiting[]) => batch.map(({ post }) => post)

/** Groups posts by their target: new threads by conversation, replies by parent. */
function byTarget(batch: Waiting[]): Iterable<Waiting[]> {
  const groups = new Map<string, Waiting[]>()
  for (const waiting of batch) {
    const [target] = Object.values(waiting.post.where) as [string]
    groups.set(target, [...(groups.get(target) ?? []), waiting])
  }
  return groups.values()
}
