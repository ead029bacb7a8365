import type { Context } from '../../context.ts'
import { assertMay } from '../../core/access.ts'
import { type Actor, kindOfAuthor } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { fromRepliers, lastRepliers, toReplierIds, toRepliers } from '../../core/repliers.ts'
import { toInstant } from '../../core/time.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { Micros } from '../../storage/sql.ts'
import type { QuestionContext } from '../answers/schema-context.ts'
import { CLOSED } from '../memberships/rules.ts'
import { layoutOf } from '../memberships/rules-look.ts'
import { toStored } from '../memberships/store-conversations.ts'
import type { PostBeside } from './beside.ts'
import { assertAsks, childPath, postedRole, ROOT_PATH, wantedRole } from './rules.ts'
import { isPlainPlace } from './rules-plain.ts'
import type { Message, PostRootInput, ReplyState } from './schema.ts'
import { type MessageRow, toMessage } from './store.ts'
import { listParents, type Parent } from './store-parents.ts'
import {
  type Activity,
  type Contribution,
  insertPosts,
  type LockedTarget,
  type LockOptions,
  lockTargets,
  type NewMessage,
  type NewThread,
  type ReplyCount,
  type Seen,
  type Target,
} from './store-posts.ts'
import { listReplyStates } from './store-replies.ts'

/** A post to be stored: in a conversation as a new thread, or below a message. */
export interface NewPost {
  actor: Actor
  input: Pick<
    PostRootInput,
    | 'role'
    | 'content'
    | 'metadata'
    | 'mentions'
    | 'attachment_ids'
    | 'quote_id'
    | 'variant_of'
    | 'assistant'
    | 'title'
    | 'invocation_id'
    | 'stream'
    | 'generated'
  >
  where: { conversation_id: string } | { parent_id: string }
  /** The process that streams the message, for its host; missing for one that is streamed by calls. */
  writer?: string
  /** What a question came with, of a protocol that has it: the assistant is told it before. */
  context?: QuestionContext
  /** What else the transaction of a question does, which a protocol asks in a chat. */
  beside?: PostBeside
}

/** A post with the role of its message. */
interface DecidedPost extends NewPost {
  role: Message['role']
}

/** A stored message, the title of the thread that it begins, and the message as its readers get it. */
export interface Posted {
  row: MessageRow
  title?: string | undefined
  message: Message
  /** The thread of a reply, with it. */
  thread?: ReplyState | undefined
  /** Whether a plain root of the author can be stored in this conversation at once. */
  isPlainPlace?: boolean
}

/** What a batch needs of the service. */
export type PostContext = Pick<Context, 'access' | 'accounts' | 'assistants' | 'config' | 'now' | 'id'>

/** Where a post goes: its conversation, which is locked, and for a reply its parent. */
export interface PostPlace {
  target: LockedTarget
  parent: Parent | undefined
}

/**
 * The texts of posts: their rows and counts. Each post takes the earlier ones into account, although none is stored yet.
 */
export function createBatch(ctx: PostContext) {
  const threads: NewThread[] = []
  const messages: NewMessage[] = []
  const seen = new Map<string, Seen>()
  const counts = createCounts()
  const advance = createClocks(ctx.now)

  function addRoot(post: DecidedPost, target: LockedTarget): NewMessage {
    const { conversation_id } = target
    const [at, id] = [advance(target), ctx.id()]
    threads.push({ root_id: id, conversation_id, at, title: post.input.title || null })
    counts.addRoot(id, post.actor.user_id)
    return newRoot(post, id, at, conversation_id)
  }

  function addReply(post: DecidedPost, target: LockedTarget, parentId: string, parent: Parent): NewMessage {
    if (parent.deleted_at) throw new ChatError('message_deleted')
    const depth = parent.depth + 1
    if (depth > ctx.config.limits.max_depth) throw new ChatError('thread_too_deep')

    const { root_id } = parent
    const { conversation_id } = target
    const at = advance(target)
    const earlier = counts.addReply(post.actor.user_id, parentId, parent, at)
    const path = childPath(parent.path, parent.reply_count + earlier)
    return newMessage(post, at, { id: ctx.id(), conversation_id, root_id, parent_id: parentId, path, depth })
  }

  return {
    /** Locks the conversations. @returns the place of each post, by its index: none outside of the actor's conversations */
    async load(tx: Tx, targets: Target[], options: LockOptions): Promise<ReadonlyMap<number, PostPlace>> {
      const [locked, parents] = await Promise.all([lockTargets(tx, targets, options), listParents(tx, targets)])
      await completeParents(tx, parents)
      const parentBy = new Map(parents.map((parent) => [parent.n, parent]))
      return new Map(locked.map((target) => [target.n, { target, parent: parentBy.get(target.n) }]))
    },

    /** @returns the role of the message @throws ChatError `forbidden`, `conflict`, `validation_failed` */
    decide({ actor, input, where }: NewPost, { target }: PostPlace): Message['role'] {
      const by = { ...target, actor }
      assertMay(ctx.access, by, 'parent_id' in where ? 'reply' : 'post')
      if (input.attachment_ids?.length) assertMay(ctx.access, by, 'attach')
      if (target.is_closed === 1) throw new ChatError('conflict', CLOSED)
      const role = postedRole(actor, wantedRole(input), layoutOf(target))
      if (role === 'assistant') {
        assertMay(ctx.access, by, 'ask')
        assertAsks(input)
      }
      return role
    },

    /**
     * Adds a post, with the columns that its parts have decided on.
     *
     * @throws ChatError `message_deleted`, `thread_too_deep`; then it adds nothing
     */
    add(
      post: DecidedPost,
      { target, parent }: PostPlace,
      columns: readonly (Partial<NewMessage> | undefined)[],
    ): Posted {
      const row =
        'parent_id' in post.where ? addReply(post, target, post.where.parent_id, parent!) : addRoot(post, target)
      Object.assign(row, ...columns)
      counts.addMentions(row)
      messages.push(row)
      const { conversation_id } = target
      const { user_id } = post.actor
      const own = entry(seen, `${conversation_id}/${user_id}`, { conversation_id, user_id, added: 0, roots: 0 })
      own.added++
      if (row.parent_id === null) own.roots++
      const thread = parent && counts.stateOf(row, parent)
      return { row, title: post.input.title, message: toMessage(row), thread, isPlainPlace: isPlainPlace(target) }
    },

    store: (tx: Tx): void =>
      tx.defer(insertPosts(tx, { threads, messages, ...counts.additions(), seen: [...seen.values()] })),
  }
}

/** What new messages add to the counts of their threads, parents and authors. */
function createCounts() {
  const replies = new Map<string, ReplyCount>()
  const contributions = new Map<string, Contribution>()
  const activities = new Map<string, Activity>()
  const mentions = createMentionTimes()
  return {
    additions: () => ({
      replies: [...replies.values()],
      contributions: [...contributions.values()],
      activities: [...activities.values()],
    }),
    addRoot(root_id: string, user_id: string): void {
      contributions.set(root_id, { root_id, user_id, added: 1, followed_at: null })
    },
    /** @returns how many replies to the parent were added before */
    addReply(user_id: string, parent_id: string, parent: Parent, at: Micros): number {
      const { root_id, live_count, last_repliers, starts_following } = parent
      const counted = entry(replies, parent_id, { parent_id, added: 0 })
      const activity = entry(activities, root_id, { root_id, at, added: 0, joined: 0, last_repliers: last_repliers! })
      const followed_at = starts_following === 1 ? (mentions.find(user_id, parent) ?? at) : null
      const written = entry(contributions, `${root_id}/${user_id}`, { root_id, user_id, added: 0, followed_at })
      if (live_count + written.added === 0) activity.joined++
      for (const count of [counted, activity, written]) count.added++
      activity.at = at
      activity.last_repliers = fromRepliers(lastRepliers([{ user_id, at }, ...toRepliers(activity.last_repliers)]))
      return counted.added - 1
    },
    addMentions: mentions.add,
    /** @returns the thread of the reply that was added last */
    stateOf({ root_id, created_at }: MessageRow, { thread_replies }: Parent): ReplyState {
      const { added, last_repliers } = activities.get(root_id)!
      return {
        root_id,
        reply_count: thread_replies + added,
        last_reply_at: toInstant(created_at),
        last_replier_ids: toReplierIds(last_repliers),
      }
    },
  }
}

/** When the messages mentioned users: from then on these follow, also if they reply in the same batch. */
function createMentionTimes() {
  const times = new Map<string, Micros>()
  return {
    add({ root_id, mentioned, created_at }: NewMessage): void {
      for (const user_id of mentioned?.split(',') ?? []) entry(times, `${root_id} ${user_id}`, created_at)
    },
    find(user_id: string, { root_id, refuses_following }: Parent): Micros | undefined {
      return refuses_following === 1 ? undefined : times.get(`${root_id} ${user_id}`)
    },
  }
}

/** Computes what is not stored of the threads of parents: those of an older program, and all while a user is erased. */
async function completeParents(tx: Tx, parents: Parent[]): Promise<void> {
  const unlisted = parents.filter(({ last_repliers }) => last_repliers === null)
  if (unlisted.length === 0) return
  const rows = await listReplyStates(tx, new Set(unlisted.map(({ root_id }) => root_id)))
  const states = new Map(rows.map((row) => [row.root_id, row]))
  for (const parent of unlisted) {
    const { reply_count, last_repliers } = states.get(parent.root_id)!
    Object.assign(parent, { thread_replies: reply_count, last_repliers })
  }
}

/** The next instants of conversations: those of each are unique and increasing. */
export function createClocks(now: () => Micros) {
  const clocks = new Map<string, Micros>()
  return ({ conversation_id, clock }: Pick<LockedTarget, 'conversation_id' | 'clock'>): Micros => {
    const at = Math.max(now(), (clocks.get(conversation_id) ?? clock) + 1)
    clocks.set(conversation_id, at)
    return at
  }
}

/** The entry of a key; a missing entry is set to `initial`. */
function entry<Each>(entries: Map<string, Each>, key: string, initial: Each): Each {
  const existing = entries.get(key)
  if (existing) return existing
  entries.set(key, initial)
  return initial
}

/** The row of a new root. */
export function newRoot(post: DecidedPost, id: string, at: Micros, conversation_id: string): NewMessage {
  return newMessage(post, at, { id, conversation_id, root_id: id, parent_id: null, path: ROOT_PATH, depth: 0 })
}

type Position = Pick<MessageRow, 'id' | 'conversation_id' | 'root_id' | 'parent_id' | 'path' | 'depth'>

function newMessage({ actor, role, input }: DecidedPost, created_at: Micros, position: Position): NewMessage {
  const isAsked = role === 'assistant'
  const isStreamed = isAsked || input.stream === true
  return {
    id: position.id,
    conversation_id: position.conversation_id,
    root_id: position.root_id,
    parent_id: position.parent_id,
    posted_by: actor.user_id,
    role,
    content: isStreamed ? '' : input.content,
    path: position.path,
    depth: position.depth,
    status: isStreamed ? 'streaming' : 'complete',
    created_at,
    edited_at: null,
    deleted_at: null,
    deleted_by: null,
    delete_reason: null,
    prompt: (isAsked && input.content) || null,
    finish_reason: null,
    usage: null,
    metadata: toStored(input.metadata ?? {}),
    mention_all: null,
    mentioned: null,
    quote_id: null,
    variant_of: null,
    assistant: null,
    asked: null,
    failure: null,
    mention_origins: null,
    author_kind: kindOfAuthor(actor),
  }
}
