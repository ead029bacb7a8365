import * as v from 'valibot'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { Id, Limit, opaque, StreamPosition } from '../../core/schema.ts'
import { Message, REPLY_STATE } from '../messages/schema.ts'

/** The lists of messages by arrival: the roots of a conversation, all its messages, or the replies of a thread. */
export const VIEWS = ['roots', 'all', 'thread'] as const
export type View = (typeof VIEWS)[number]

const PLACES = `[0-9a-f]{8}-[0-9a-f\\-]{27}|(${VIEWS.join('|')})_[0-9]{1,16}_[0-9a-f\\-]{36}`

const place = (pattern: string, description: string) =>
  v.optional(v.pipe(opaque(MAX_LENGTH.token), v.description(description), v.metadata({ pattern: `^(${pattern})$` })))

const PLACE_ENTRIES = {
  before: place(PLACES, 'A message id, or `next_before`: only messages that arrived earlier, the latest of them'),
  after: place(PLACES, 'A message id, or `next_after`: only messages that arrived later, the earliest of them'),
  around: place(
    `unread|${PLACES}`,
    'A message id or a cursor: that message, at most half of `limit` before it, and the rest after it. `unread`: at `first_unread_id`, or the newest page',
  ),
  limit: Limit(50, 200),
}

export const TimelineQuery = v.object({
  view: v.optional(
    v.pipe(v.picklist(['roots', 'all']), v.description('The roots of threads, or all messages, with replies')),
    'roots',
  ),
  ...PLACE_ENTRIES,
})
export type TimelineQuery = v.InferOutput<typeof TimelineQuery>

export const RepliesQuery = v.object(PLACE_ENTRIES)
export type RepliesQuery = v.InferOutput<typeof RepliesQuery>

/** What a root says of its thread; deleted ones too. */
export const ThreadState = v.object({
  title: v.optional(v.pipe(v.string(), v.description('Missing without one, and while the root is deleted'))),
  ...REPLY_STATE,
  following: v.optional(v.pipe(v.boolean(), v.description('Whether the caller follows the thread'))),
  unread_replies: v.optional(v.pipe(v.number(), v.integer(), v.description('The unread replies in it'))),
})
export type ThreadState = v.InferOutput<typeof ThreadState>

/** A message in a list by arrival. */
export const TimelineMessage = v.object({
  ...Message.entries,
  unread: v.optional(v.pipe(v.literal(true), v.description('Of another user, and not read by the caller'))),
  thread: v.optional(ThreadState),
})
export type TimelineMessage = v.InferOutput<typeof TimelineMessage>

const PAGE_ENTRIES = {
  messages: v.pipe(v.array(TimelineMessage), v.description('Oldest first')),
  next_before: v.optional(v.pipe(v.string(), v.description('There if earlier messages exist'))),
  next_after: v.optional(v.pipe(v.string(), v.description('There if later messages exist'))),
  first_unread_id: v.optional(v.pipe(Id, v.description('The earliest unread message of the list, on any page'))),
  stream_position: v.optional(StreamPosition),
}

/** A page of the messages of a conversation. */
export const TimelinePage = v.object({ conversation_id: Id, ...PAGE_ENTRIES })
export type TimelinePage = v.InferOutput<typeof TimelinePage>

/** A page of the replies of a thread. */
export const RepliesPage = v.object({ conversation_id: Id, root: TimelineMessage, ...PAGE_ENTRIES })
export type RepliesPage = v.InferOutput<typeof RepliesPage>
