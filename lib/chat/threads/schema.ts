import * as v from 'valibot'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { AnyInstant, Id, Instant, Limit, opaque, StreamPosition, text } from '../../core/schema.ts'
import { LastReplierIds, Message, PATHS, ThreadTitle } from '../messages/schema.ts'

/** A thread in a list; `unread`, `unread_replies` and `following` depend on the reader, and are not in events. */
export const ThreadSummary = v.object({
  root_id: Id,
  conversation_id: Id,
  title: v.optional(v.pipe(v.string(), v.description('Missing without one, and while the root is deleted'))),
  root_excerpt: v.pipe(v.string(), v.description('The first 140 characters of the root, or the names of its files')),
  root_file_count: v.optional(
    v.pipe(v.number(), v.integer(), v.description('How many files the root has; missing for none')),
  ),
  root_author: v.optional(v.pipe(Id, v.description('The user who wrote the root'))),
  created_at: Instant,
  last_activity_at: Instant,
  last_reply_at: v.optional(
    v.pipe(Instant, v.description('The latest reply that is not deleted; missing without one')),
  ),
  message_count: v.pipe(v.number(), v.integer(), v.description('Messages that are not deleted')),
  participant_count: v.pipe(v.number(), v.integer(), v.description('Number of authors in it')),
  last_replier_ids: LastReplierIds,
  unread: v.optional(v.pipe(v.number(), v.integer())),
  unread_replies: v.optional(v.pipe(v.number(), v.integer(), v.description('Of `unread`, without the first message'))),
  following: v.optional(v.pipe(v.boolean(), v.description('Whether the caller follows the thread'))),
})
export type ThreadSummary = v.InferOutput<typeof ThreadSummary>

export const ThreadsQuery = v.object({
  after: v.optional(v.pipe(AnyInstant, v.description('Only threads whose last activity is older'))),
  limit: Limit(50, 200),
})
export type ThreadsQuery = v.InferOutput<typeof ThreadsQuery>

/** A page of threads, latest activity first. */
export const ThreadPage = v.object({
  threads: v.array(ThreadSummary),
  next_after: v.optional(Instant),
  stream_position: v.optional(StreamPosition),
})
export type ThreadPage = v.InferOutput<typeof ThreadPage>

export const FollowedQuery = v.object({
  unread: v.optional(v.pipe(v.boolean(), v.description('`true`: only those that are counted in `unread`'))),
  after: v.optional(
    v.pipe(
      opaque(MAX_LENGTH.token),
      v.description('`next_after` of the previous page, with the same `unread`'),
      v.metadata({ pattern: '^(followed|unread)_[0-9]{1,16}_[0-9a-f\\-]{36}$' }),
    ),
  ),
  limit: Limit(50, 200),
})
export type FollowedQuery = v.InferOutput<typeof FollowedQuery>

/** A page of the threads that the caller follows, latest activity first. */
export const FollowedThreads = v.object({
  threads: v.array(ThreadSummary),
  unread: v.pipe(
    v.number(),
    v.integer(),
    v.description('How many of all of them have an unread reply that arrived since the caller follows them'),
  ),
  next_after: v.optional(v.string()),
})
export type FollowedThreads = v.InferOutput<typeof FollowedThreads>

export const TreeQuery = v.object({
  cursor_path: v.optional(
    v.pipe(opaque(4096), v.description('The path of the last message already read'), v.metadata({ pattern: PATHS })),
  ),
  limit: Limit(200, 500),
})
export type TreeQuery = v.InferOutput<typeof TreeQuery>

/** A page of a thread, depth first. */
export const TreePage = v.object({
  root_id: Id,
  title: v.optional(v.pipe(v.string(), v.description('Missing without one, and while the root is deleted'))),
  messages: v.array(Message),
  next_cursor: v.optional(v.string()),
  stream_position: v.optional(StreamPosition),
})
export type TreePage = v.InferOutput<typeof TreePage>

/** A change of the title of a thread. */
export const TitleChange = v.object({ title: ThreadTitle })
export type TitleChange = v.InferOutput<typeof TitleChange>

/** The position up to which a thread was read: the message with this path or id, or the end. */
export const ReadMark = v.object({
  path: v.optional(text(4096)),
  message_id: v.optional(Id),
})
export type ReadMark = v.InferOutput<typeof ReadMark>

/** The first message that is unread. */
export const UnreadMark = v.object({ message_id: Id })
export type UnreadMark = v.InferOutput<typeof UnreadMark>

export const UnreadQuery = v.object({
  after: v.optional(v.pipe(AnyInstant, v.description('Only threads whose last activity is older'))),
  limit: Limit(200, 1000),
})
export type UnreadQuery = v.InferOutput<typeof UnreadQuery>

export const UnreadThread = v.object({ root_id: Id, unread: v.pipe(v.number(), v.integer(), v.minValue(1)) })

/** A page of threads with unread messages, latest activity first. */
export const UnreadThreads = v.object({
  threads: v.array(UnreadThread),
  total: v.pipe(v.number(), v.integer(), v.description('In the whole conversation, not only on this page')),
  unread: v.pipe(
    v.number(),
    v.integer(),
    v.description(
      '`unread` of the conversation: in a `stream` without replies in threads that the caller does not follow',
    ),
  ),
  unread_replies: v.pipe(
    v.number(),
    v.integer(),
    v.description('Replies that arrived since the caller follows their thread; in a direct conversation all replies'),
  ),
  next_after: v.optional(Instant),
  stream_position: v.optional(StreamPosition),
})
export type UnreadThreads = v.InferOutput<typeof UnreadThreads>
