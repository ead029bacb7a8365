import * as v from 'valibot'
import { AnyInstant, Id } from '../../core/schema.ts'

/** Up to which message a conversation is read. */
export const ConversationReadMark = v.object({
  message_id: v.optional(v.pipe(Id, v.description('Missing: the newest message'))),
  all: v.optional(
    v.pipe(v.boolean(), v.description('true: all messages that arrived up to it, not only the roots of threads')),
    false,
  ),
})
export type ConversationReadMark = v.InferOutput<typeof ConversationReadMark>

/** Up to when all conversations of a user are read. */
export const ReadAllMark = v.object({
  up_to: v.optional(
    v.pipe(AnyInstant, v.description('What arrived later stays unread. Default: now, which is also the maximum')),
  ),
})
export type ReadAllMark = v.InferOutput<typeof ReadAllMark>

/** The first root that is unread; a reply stands for its root. */
export const ConversationUnreadMark = v.object({ message_id: Id })
export type ConversationUnreadMark = v.InferOutput<typeof ConversationUnreadMark>
