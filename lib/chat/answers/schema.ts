import * as v from 'valibot'
import { Id, Instant, Limit } from '../../core/schema.ts'

const Tokens = v.optional(v.pipe(v.number(), v.integer(), v.minValue(0)))

/** How many tokens an answer took, as its provider counts them. */
export const Usage = v.object({ prompt_tokens: Tokens, completion_tokens: Tokens, total_tokens: Tokens })
export type Usage = v.InferOutput<typeof Usage>

/** Why an answer failed, and what everybody may know of it. */
export const FAILURES = {
  timeout: 'The assistant took too long.',
  provider_error: 'The assistant could not answer.',
  connection_lost: 'The connection to the assistant broke off.',
  invalid_answer: 'The assistant sent something that is no answer.',
  empty_answer: 'The assistant had nothing to say.',
  answer_too_long: 'The answer was longer than allowed.',
} as const

export type FailureCode = keyof typeof FAILURES

/** What a piece of an answer adds to it; `role` comes with the first piece. */
export const MessageDeltaContent = v.object({ role: v.optional(v.literal('assistant')), content: v.string() })

export const MessageDeltaChoice = v.object({
  index: v.literal(0),
  delta: MessageDeltaContent,
})

/** A piece of an answer on its way to readers, in the form of OpenAI's streams. */
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

/** How far an answer is, and how it ended: `interrupted` when the process that wrote it died. */
export const MessageStatus = v.picklist(['streaming', 'complete', 'cancelled', 'failed', 'interrupted'])
export type MessageStatus = v.InferOutput<typeof MessageStatus>

/** The answer to a cancellation: how the message is now. */
export const CancelledAnswer = v.object({ message_id: Id, status: MessageStatus })
export type CancelledAnswer = v.InferOutput<typeof CancelledAnswer>

const Index = v.pipe(v.number(), v.integer(), v.minValue(0))

/** A piece of an answer as it was stored and sent: together, by `idx`, they are what was produced. */
export const Chunk = v.object({ message_id: Id, idx: Index, content: v.string(), created_at: Instant })
export type Chunk = v.InferOutput<typeof Chunk>

export const Chunks = v.array(Chunk)

export const ChunksQuery = v.object({
  from: v.optional(v.pipe(Index, v.toMaxValue(2 ** 31 - 1), v.description('The first `idx` to list')), 0),
  limit: Limit(500, 1000),
})
export type ChunksQuery = v.InferOutput<typeof ChunksQuery>
