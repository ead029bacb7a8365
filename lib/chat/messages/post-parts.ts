import type { Tx } from '../../live/transaction/transaction.ts'
import { createAttaching } from '../attachments/attaching.ts'
import { createAnswering } from './answering.ts'
import type { NewPost, PostContext, PostPlace } from './batch.ts'
import { createFollowing } from './following.ts'
import { createInforming } from './informing.ts'
import { createMarking } from './marking.ts'
import { createMentioning } from './mentioning.ts'
import { createQuoting } from './quoting.ts'
import type { MessageRow } from './store.ts'
import type { NewMessage, Target } from './store-posts.ts'
import { createStreaming } from './streaming.ts'
import { createVariants } from './variants.ts'

/** What a feature adds to the posts of a transaction. Its functions are called in this order, once or for each post. */
export interface PostPart {
  /** Reads and locks what is needed to decide. */
  load(tx: Tx, targets: Target[]): Promise<void>
  /** Decides on a post whose author may post. @returns columns of its row @throws ChatError to refuse the post */
  decide(post: NewPost, place: PostPlace): Partial<NewMessage> | undefined
  /** Takes a post that was not refused. */
  add(row: MessageRow, post: NewPost, place: PostPlace): void
  /** Stores what was taken. The messages are stored before. */
  store(tx: Tx): void | Promise<void>
}

/** Creates the part of some posts; `undefined` if it has nothing to do with any of them, which then cost nothing. */
type CreatePostPart = (ctx: PostContext, posts: readonly NewPost[]) => PostPart | undefined

/** The parts of posts beside their texts, in the order in which they decide and store: who follows a thread is notified. */
const PARTS: readonly CreatePostPart[] = [
  createQuoting,
  createVariants,
  createAnswering,
  createMarking,
  createInforming,
  createFollowing,
  createStreaming,
  createMentioning,
  createAttaching,
]

/** The parts that these posts have. */
export function createPostParts(ctx: PostContext, posts: readonly NewPost[]): PostPart[] {
  return PARTS.flatMap((create) => create(ctx, posts) ?? [])
}
