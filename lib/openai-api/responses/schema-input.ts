import * as v from 'valibot'
import { MAX_CONTEXT_TURNS } from '../../chat/answers/schema-context.ts'
import { Metadata } from '../../chat/conversations/schema-metadata.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { IdempotencyKey, opaque, plainObject } from '../../core/schema.ts'

const Text = opaque(MAX_LENGTH.context)
const MAX_ITEMS = 1_000
const flag = v.optional(v.nullable(v.boolean()))

/** A part of a content: text, or what has none, as a picture. */
export const GivenPart = v.object({
  type: opaque(MAX_LENGTH.label),
  text: v.optional(Text),
  refusal: v.optional(Text),
})

export const GivenText = v.nullable(Text)
export const GivenParts = v.pipe(v.array(GivenPart), v.maxLength(MAX_ITEMS))

/** What was said, a decision on a call that waits, or an item of an output that is sent back. */
export const GivenItem = v.object({
  type: v.optional(
    v.pipe(opaque(MAX_LENGTH.label), v.description('`mcp_approval_response`, or `message`, which may be left out')),
  ),
  role: v.optional(v.picklist(['user', 'assistant', 'system', 'developer'])),
  content: v.optional(v.union([GivenText, GivenParts])),
  approval_request_id: v.optional(opaque(MAX_LENGTH.token)),
  approve: v.optional(v.boolean()),
  reason: v.optional(v.nullable(opaque(MAX_LENGTH.remark))),
})
export type GivenItem = v.InferOutput<typeof GivenItem>

export const GivenItems = v.pipe(v.array(GivenItem), v.minLength(1), v.maxLength(MAX_ITEMS))
export const GivenInput = v.pipe(Text, v.minLength(1))

export const GivenConversationName = opaque(MAX_LENGTH.token)
export const GivenConversation = plainObject({ id: opaque(MAX_LENGTH.token) })

/** A question, or decisions, as clients of OpenAI send them. Fields that are not named here are ignored. */
export const ResponseInput = v.object({
  input: v.pipe(
    v.union([GivenInput, GivenItems]),
    v.description(
      `The last items of the user are the question. Earlier ones are told to the assistant before it: up to ${MAX_CONTEXT_TURNS}, of 64 KiB`,
    ),
  ),
  model: v.optional(
    v.nullable(
      v.pipe(opaque(MAX_LENGTH.label), v.description('The key of an assistant. Left out: as for any question')),
    ),
  ),
  conversation: v.optional(v.union([GivenConversationName, GivenConversation])),
  previous_response_id: v.optional(v.nullable(opaque(MAX_LENGTH.token))),
  instructions: v.optional(v.nullable(Text)),
  metadata: v.optional(Metadata),
  stream: flag,
  background: flag,
})
export type ResponseInput = v.InferOutput<typeof ResponseInput>

/** A question with its key, which clients send as a header. */
export const ResponseQuestion = v.object({ ...ResponseInput.entries, idempotency_key: v.optional(IdempotencyKey) })
export type ResponseQuestion = v.InferOutput<typeof ResponseQuestion>

const Sequence = v.pipe(v.number(), v.integer(), v.minValue(0))

/** How a response is read. */
export const ResponseQuery = v.object({
  stream: v.optional(v.pipe(v.boolean(), v.description('Whether to stream the events')), false),
  starting_after: v.optional(
    v.pipe(Sequence, v.description('The `sequence_number` of the last event that the client has')),
  ),
})
