import type { Context } from '../../context.ts'
import { type Actor, mayWrite } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import type { Micros } from '../../storage/sql.ts'
import { CLOSED, canPost } from '../memberships/rules.ts'
import { toStored } from '../memberships/store-conversations.ts'
import type { Mentioned } from '../mentions/rules.ts'
import { toColumns } from '../mentions/store.ts'
import { childPath, ROOT_PATH } from './rules.ts'
import type { Message, PostInput } from './schema.ts'
import { type MessageRow, toMessage } from './store.ts'
import type {
  Activity,
  Additions,
  Contribution,
  LockedTarget,
  NewThread,
  Parent,
  ReplyCount,
  Seen,
} from './store-posts.ts'

/** A post to be stored: in a conversation as a new thread, or below a message. */
export interface NewPost {
  actor: Actor
  input: Pick<PostInput, 'role' | 'content' | 'metadata' | 'mentions' | 'attachment_ids'>
  where: { conversation_id: string } | { parent_id: string }
}

/** A stored message, and the message as its readers get it. */
export interface Posted {
  row: MessageRow
  message: Message
}

/** What a batch needs of the service. */
export type PostContext = Pick<Context, 'config' | 'now' | 'id'>

/** What is decided of a post: which users it mentions, if any, and the list of its files. */
interface Decisions {
  mentioned: () => Mentioned | undefined
  files: () => string | null
}

/** Collects the rows and counts of posts. Each post takes the earlier ones into account, although none is stored yet. */
export function createBatch(ctx: PostContext) {
  const threads: NewThread[] = []
  const messages: MessageRow[] = []
  const seen = new Map<string, Seen>()
  const counts = createCounts()
  const advance = createClocks(ctx.now)

  function addRoot({ actor, input }: NewPost, target: LockedTarget): MessageRow {
    const { conversation_id } = target
    const [at, id] = [advance(target), ctx.id()]
    threads.push({ root_id: id, conversation_id, at })
    counts.addRoot(id, actor.user_id)
    const place = { id, conversation_id, root_id: id, parent_id: null, path: ROOT_PATH, depth: 0 }
    return newMessage(actor, input, at, place)
  }

  function addReply({ actor, input }: NewPost, target: LockedTarget, parentId: string, parent: Parent): MessageRow {
    if (parent.deleted_at) throw new ChatError('message_deleted')
    const depth = parent.depth + 1
    if (depth > ctx.config.limits.max_depth) throw new ChatError('thread_too_deep')

    const { root_id } = parent
    const { conversation_id } = target
    const at = advance(target)
    const earlier = counts.addReply(actor.user_id, parentId, parent, at)
    const path = childPath(parent.path, parent.reply_count + earlier)
    return newMessage(actor, input, at, { id: ctx.id(), conversation_id, root_id, parent_id: parentId, path, depth })
  }

  return {
    additions: (): Additions => ({
      threads,
      messages,
      ...counts.additions(),
      seen: [...seen.values()],
    }),

    /**
     * @throws ChatError `forbidden`, `message_deleted`, `thread_too_deep`, `conflict`; then it adds nothing
     */
    add(post: NewPost, target: LockedTarget, parent: Parent | undefined, { mentioned, files }: Decisions): Posted {
      if (!mayWrite(post.actor.roles) || !canPost(target.role)) throw new ChatError('forbidden')
      if (target.is_closed === 1) throw new ChatError('conflict', CLOSED)
      const mentions = mentioned()
      const attachment_list = files()
      const row =
        'parent_id' in post.where ? addReply(post, target, post.where.parent_id, parent!) : addRoot(post, target)
      if (mentions) Object.assign(row, toColumns(mentions))
      if (attachment_list) row.attachment_list = attachment_list
      messages.push(row)
      const { conversation_id } = target
      const { user_id } = post.actor
      entry(seen, `${conversation_id}/${user_id}`, { conversation_id, user_id, added: 0 }).added++
      return { row, message: toMessage(row) }
    },
  }
}

/** What new messages add to the counts of their threads, parents and authors. */
function createCounts() {
  const replies = new Map<string, ReplyCount>()
  const contributions = new Map<string, Contribution>()
  const activities = new Map<string, Activity>()
  return {
    additions: () => ({
      replies: [...replies.values()],
      contributions: [...contributions.values()],
      activities: [...activities.values()],
    }),
    addRoot(root_id: string, user_id: string): void {
      contributions.set(root_id, { root_id, user_id, added: 1 })
    },
    /** @returns how many replies to the parent were added before */
    addReply(user_id: string, parent_id: string, { root_id, live_count }: Parent, at: Micros): number {
      const counted = entry(replies, parent_id, { parent_id, added: 0 })
      const activity = entry(activities, root_id, { root_id, at, added: 0, joined: 0 })
      const written = entry(contributions, `${root_id}/${user_id}`, { root_id, user_id, added: 0 })
      if (live_count + written.added === 0) activity.joined++
      for (const count of [counted, activity, written]) count.added++
      activity.at = at
      return counted.added - 1
    },
  }
}

/** The next instants of conversations: those of each are unique and increasing. */
export function createClocks(now: () => Micros) {
  const clocks = new Map<string, Micros>()
  return ({ conversation_id, clock }: LockedTarget): Micros => {
    const at = Math.max(now(), (clocks.get(conversation_id) ?? clock) + 1)
    clocks.set(conversation_id, at)
    return at
  }
}

/** The entry of a key; a missing entry is set to `initial`. */
function entry<Each>(entries: Map<string, Each>, key: string, initial: Each): Each {
  const known = entries.get(key)
  if (known) return known
  entries.set(key, initial)
  return initial
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
    role: post.role === 'user' && actor.system !== undefined ? 'system' : post.role,
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
    metadata: toStored(post.metadata ?? {}),
    mention_all: null,
    mentioned: null,
  }
}
