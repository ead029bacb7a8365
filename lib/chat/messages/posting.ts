import type { Context } from '../../context.ts'
import { type Actor, mayWrite } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import type { Tx } from '../../live/transaction.ts'
import type { Micros } from '../../storage/sql.ts'
import { canPost } from '../conversations/rules.ts'
import { childPath, ROOT_PATH } from './rules.ts'
import type { Message, Post } from './schema.ts'
import { type MessageRow, toMessage } from './store.ts'
import {
  type Activity,
  type Additions,
  type Contribution,
  insertPosts,
  type LockedTarget,
  listParents,
  lockTargets,
  type NewThread,
  type Parent,
  type ReplyCount,
  type Seen,
} from './store-posts.ts'

/** A post to be stored: in a conversation as a new thread, or below a message. */
export interface NewPost {
  actor: Actor
  input: Pick<Post, 'role' | 'content'>
  where: { conversation_id: string } | { parent_id: string }
}

/** A stored message, and the message as its readers get it. */
export interface Posted {
  row: MessageRow
  message: Message
}

/** The result of a post; `undefined` if its conversation is locked, or the actor is no participant of it. */
export type PostResult = Posted | ChatError | undefined

type PostContext = Pick<Context, 'config' | 'now' | 'id'>

/**
 * Stores any number of posts in one transaction, with the same number of statements.
 *
 * A refused post changes nothing, and does not affect the other posts.
 *
 * @param options.unlessLocked skips conversations that other transactions have locked, on PostgreSQL
 * @returns the result of each post, in their order: `not_found` for a target outside of the actor's conversations;
 *   `forbidden` for a viewer or a read-only user; `message_deleted` for a deleted parent; `thread_too_deep`
 */
export async function addPosts(
  ctx: PostContext,
  tx: Tx,
  posts: readonly NewPost[],
  options: { unlessLocked?: boolean } = {},
): Promise<PostResult[]> {
  const targets = posts.map(({ actor, where }, n) => {
    return { n, conversation_id: null, parent_id: null, ...where, user_id: actor.user_id }
  })
  const [locked, parents] = await Promise.all([lockTargets(tx, targets, options), listParents(tx, targets)])
  const lockedBy = new Map(locked.map((each) => [each.n, each]))
  const parentBy = new Map(parents.map((each) => [each.n, each]))
  const batch = createBatch(ctx)
  const results = posts.map((post, n): PostResult => {
    const target = lockedBy.get(n)
    if (!target) return options.unlessLocked && tx.dialect === 'postgresql' ? undefined : new ChatError('not_found')
    return attempt(() => batch.add(post, target, parentBy.get(n)))
  })
  tx.defer(insertPosts(tx, batch.additions()))
  for (const result of results) if (result && !(result instanceof ChatError)) publish(tx, result)
  return results
}

/** Collects the rows and counts of posts. Each post takes the earlier ones into account, although none is stored yet. */
function createBatch(ctx: PostContext) {
  const threads: NewThread[] = []
  const messages: MessageRow[] = []
  const clocks = new Map<string, Micros>()
  const replies = new Map<string, ReplyCount>()
  const contributions = new Map<string, Contribution>()
  const activities = new Map<string, Activity>()
  const seen = new Map<string, Seen>()

  /** The next instant of a conversation: its instants are unique and increasing. */
  function advance({ conversation_id, clock }: LockedTarget): Micros {
    const at = Math.max(ctx.now(), (clocks.get(conversation_id) ?? clock) + 1)
    clocks.set(conversation_id, at)
    return at
  }

  function addRoot({ actor, input }: NewPost, target: LockedTarget): MessageRow {
    const { conversation_id } = target
    const [at, id] = [advance(target), ctx.id()]
    threads.push({ root_id: id, conversation_id, at })
    contributions.set(id, { root_id: id, user_id: actor.user_id, added: 1 })
    return newMessage(actor, input, at, {
      id,
      conversation_id,
      root_id: id,
      parent_id: null,
      path: ROOT_PATH,
      depth: 0,
    })
  }

  function addReply({ actor, input }: NewPost, target: LockedTarget, parentId: string, parent: Parent): MessageRow {
    if (parent.deleted_at) throw new ChatError('message_deleted')
    const depth = parent.depth + 1
    if (depth > ctx.config.limits.max_depth) throw new ChatError('thread_too_deep')

    const { root_id } = parent
    const { conversation_id } = target
    const { user_id } = actor
    const at = advance(target)
    const counted = entry(replies, parentId, { parent_id: parentId, added: 0 })
    const activity = entry(activities, root_id, { root_id, at, added: 0, joined: 0 })
    const written = entry(contributions, `${root_id}/${user_id}`, { root_id, user_id, added: 0 })
    const path = childPath(parent.path, parent.reply_count + counted.added)
    if (parent.live_count + written.added === 0) activity.joined++
    for (const each of [counted, activity, written]) each.added++
    activity.at = at
    return newMessage(actor, input, at, { id: ctx.id(), conversation_id, root_id, parent_id: parentId, path, depth })
  }

  return {
    additions: (): Additions => ({
      threads,
      messages,
      replies: [...replies.values()],
      contributions: [...contributions.values()],
      activities: [...activities.values()],
      seen: [...seen.values()],
    }),

    /** @throws ChatError `forbidden`, `message_deleted`, `thread_too_deep`; then it adds nothing */
    add(post: NewPost, target: LockedTarget, parent: Parent | undefined): Posted {
      if (!mayWrite(post.actor.roles) || !canPost(target.role)) throw new ChatError('forbidden')
      const row =
        'parent_id' in post.where ? addReply(post, target, post.where.parent_id, parent!) : addRoot(post, target)
      messages.push(row)
      const { conversation_id } = target
      const { user_id } = post.actor
      entry(seen, `${conversation_id}/${user_id}`, { conversation_id, user_id, added: 0 }).added++
      return { row, message: toMessage(row) }
    },
  }
}

/** Publishes the events of a post. */
function publish(tx: Tx, { row, message }: Posted): void {
  const { conversation_id, root_id } = row
  tx.advanceClock(conversation_id, row.created_at)
  tx.countMessages(conversation_id, 1)
  if (row.parent_id === null) {
    tx.emit(conversation_id, { type: 'thread.new', message_id: row.id })
    tx.emit(conversation_id, { type: 'message.new', message_id: row.id })
    return
  }
  tx.emit(conversation_id, { type: 'message.new', message_id: row.id, payload: { message } })
  const payload = { root_id, last_activity_at: message.created_at }
  tx.publishEphemeral(conversation_id, { type: 'thread.activity', payload })
}

/** The entry of a key; a missing entry is set to `initial`. */
function entry<Each>(entries: Map<string, Each>, key: string, initial: Each): Each {
  const known = entries.get(key)
  if (known) return known
  entries.set(key, initial)
  return initial
}

function attempt<T>(step: () => T): T | ChatError {
  try {
    return step()
  } catch (error) {
    if (error instanceof ChatError) return error
    throw error
  }
}

type Position = Pick<MessageRow, 'id' | 'conversation_id' | 'root_id' | 'parent_id' | 'path' | 'depth'>

function newMessage(actor: Actor, post: NewPost['input'], created_at: Micros, position: Position): MessageRow {
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
