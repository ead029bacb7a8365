import * as v from 'valibot'
import { Metadata } from '../../chat/conversations/schema-metadata.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { Limit, opaque } from '../../core/schema.ts'

/** A conversation of OpenAI: a thread that a client names. */
export const ConversationObject = v.object({
  id: v.string(),
  object: v.literal('conversation'),
  created_at: v.pipe(v.number(), v.integer(), v.description('Seconds since 1970')),
  metadata: Metadata,
})
export type ConversationObject = v.InferOutput<typeof ConversationObject>

export const ConversationObjectInput = v.object({
  metadata: v.optional(Metadata),
})
export type ConversationObjectInput = v.InferOutput<typeof ConversationObjectInput>

export const ItemsQuery = v.object({
  after: v.optional(v.pipe(opaque(MAX_LENGTH.token), v.description('The `last_id` of the page before'))),
  limit: Limit(20, 100),
  order: v.optional(v.pipe(v.picklist(['asc', 'desc']), v.description('`desc`: newest first')), 'desc'),
})
export type ItemsQuery = v.InferOutput<typeof ItemsQuery>
