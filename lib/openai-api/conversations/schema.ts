import * as v from 'valibot'
import { Metadata } from '../../chat/conversations/schema-metadata.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { opaque } from '../../core/schema.ts'

/** A conversation of OpenAI: a thread that a client names. */
export const ConversationObject = v.object({
  id: v.string(),
  object: v.literal('conversation'),
  created_at: v.pipe(v.number(), v.integer(), v.description('Seconds since 1970')),
  metadata: v.pipe(Metadata, v.description('With `conversation_id`: the conversation of this service')),
})
export type ConversationObject = v.InferOutput<typeof ConversationObject>

export const NewConversationObject = v.object({
  metadata: v.optional(
    v.nullable(
      v.pipe(
        Metadata,
        v.description(
          '`conversation_id`: the conversation of this service in which it is. Left out, a new one of the caller',
        ),
      ),
    ),
  ),
  items: v.optional(v.unknown()),
})
export type NewConversationObject = v.InferOutput<typeof NewConversationObject>

export const ItemsQuery = v.object({
  after: v.optional(v.pipe(opaque(MAX_LENGTH.token), v.description('The `last_id` of the page before'))),
  limit: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100)), 20),
  order: v.optional(v.pipe(v.picklist(['asc', 'desc']), v.description('Newest first by default')), 'desc'),
})
export type ItemsQuery = v.InferOutput<typeof ItemsQuery>
