import * as v from 'valibot'
import { Id, Instant, Text } from '../schema.ts'

/** Whether a text shows anything: spaces, controls and zero-width characters alone do not. */
const VISIBLE = /[^\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u

/** The text of a message; kept byte for byte. Its longest size in bytes is `limits.message_bytes`. */
export const Content = v.pipe(
  Text,
  v.check((text) => VISIBLE.test(text), 'must have something visible in it'),
)

/** A message as everybody in its conversation reads it. */
export const Message = v.object({
  id: Id,
  conversation_id: Id,
  root_id: Id,
  parent_id: v.optional(Id),
  author_user_id: v.optional(Id),
  role: v.picklist(['user', 'assistant', 'system']),
  content: v.string(),
  path: v.pipe(v.string(), v.description('Opaque; in byte order it is the depth-first order of the thread')),
  depth: v.pipe(v.number(), v.integer()),
  status: v.picklist(['streaming', 'complete', 'cancelled', 'failed', 'interrupted']),
  created_at: Instant,
  edited_at: v.optional(Instant),
  deleted_at: v.optional(Instant),
})
export type Message = v.InferOutput<typeof Message>

/** What a user posts. */
export const NewMessage = v.object({
  content: Content,
  role: v.optional(v.picklist(['user']), 'user'),
})
export type NewMessage = v.InferOutput<typeof NewMessage>

/** The answer to a post. */
export const PostedMessage = v.object({
  message_id: Id,
  root_id: Id,
  conversation_id: Id,
  parent_id: v.optional(Id),
  depth: v.pipe(v.number(), v.integer()),
  message: Message,
})
export type PostedMessage = v.InferOutput<typeof PostedMessage>
