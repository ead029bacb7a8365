import * as v from 'valibot'
import { Id, Instant, Limit } from '../../core/schema.ts'
import { FAILURES, type FailureCode } from './schema-failures.ts'
import { PartChange } from './schema-parts.ts'

const Tokens = v.optional(v.pipe(v.number(), v.integer(), v.minValue(0)))

/** The token usage of an answer, as its provider counts it. */
export const Usage = v.object({
  prompt_tokens: Tokens,
  completion_tokens: Tokens,
  total_tokens: Tokens,
  cached_tokens: v.pipe(Tokens, v.description('Those of the prompt that the provider had in its cache')),
  reasoning_tokens: v.pipe(Tokens, v.description('Those of the answer that the model spent on reasoning')),
})
export type Usage = v.InferOutput<typeof Usage>

/** The text that a chunk adds to an answer; `role` is in the first chunk. */
export const MessageDeltaContent = v.object({ role: v.optional(v.literal('assistant')), content: v.string() })

export const MessageDeltaChoice = v.object({
  index: v.literal(0),
  delta: MessageDeltaContent,
})

/** A chunk of an answer as it is sent, in the format of OpenAI's streams. */
export const MessageDelta = v.object({
  id: v.pipe(v.string(), v.description('`<message_id>:<idx>`')),
  object: v.literal('chat.completion.chunk'),
  root_id: Id,
  message_id: Id,
  conversation_id: Id,
  parent_id: v.optional(Id),
  depth: v.pipe(v.number(), v.integer()),
  choices: v.pipe(v.array(MessageDeltaChoice), v.description('Exactly one')),
})
export type MessageDelta = v.InferOutput<typeof MessageDelta>

/** The progress of an answer, and its end: `interrupted` when the process that wrote it died. */
export const MessageStatus = v.picklist(['streaming', 'waiting', 'complete', 'cancelled', 'failed', 'interrupted'])
export type MessageStatus = v.InferOutput<typeof MessageStatus>

/** The response to a cancellation: the present state of the message. */
export const CancelledAnswer = v.object({ message_id: Id, status: MessageStatus })
export type CancelledAnswer = v.InferOutput<typeof CancelledAnswer>

/** Why an answer has failed. */
export const FailedAnswer = v.object({
  message_id: Id,
  root_id: Id,
  conversation_id: Id,
  code: v.picklist(Object.keys(FAILURES) as FailureCode[]),
  message: v.string(),
  retry_after_seconds: v.optional(
    v.pipe(v.number(), v.description('When another question may be answered, if the assistant says so')),
  ),
})

const Index = v.pipe(v.number(), v.integer(), v.minValue(0))

/** A chunk of an answer as it was stored and sent: joined in the order of `idx`, the chunks are the text. One with a `part` is no text. */
export const Chunk = v.object({
  message_id: Id,
  idx: Index,
  content: v.string(),
  part: v.optional(PartChange),
  created_at: Instant,
})
export type Chunk = v.InferOutput<typeof Chunk>

/** A chunk of an answer that is no text, as it is sent. */
export const MessagePart = v.object({
  message_id: Id,
  root_id: Id,
  conversation_id: Id,
  idx: v.pipe(Index, v.description('The number of the chunk: texts are counted, too')),
  part: PartChange,
})
export type MessagePart = v.InferOutput<typeof MessagePart>

export const Chunks = v.array(Chunk)

export const ChunksQuery = v.object({
  from: v.optional(v.pipe(Index, v.toMaxValue(2 ** 31 - 1), v.description('The first `idx` to list')), 0),
  limit: Limit(500, 1000),
})
export type ChunksQuery = v.InferOutput<typeof ChunksQuery>
