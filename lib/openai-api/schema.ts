import * as v from 'valibot'
import { MAX_LENGTH } from '../core/lengths.ts'
import { opaque, plainObject } from '../core/schema.ts'

const Count = v.pipe(v.number(), v.integer(), v.minValue(0))
const Seconds = v.pipe(Count, v.description('Seconds since 1970'))

/** A model as OpenAI lists it. */
export const Model = v.object({ id: v.string(), object: v.literal('model'), created: Seconds, owned_by: v.string() })
export type Model = v.InferOutput<typeof Model>

/** A model in the format of model pickers. */
export const ModelChoice = v.object({ id: v.string(), name: v.string(), model_type: v.literal('chat') })

/** The two models: in OpenAI's format, and in the format of model pickers. */
export const Models = v.object({
  object: v.literal('list'),
  data: v.array(Model),
  models: v.array(ModelChoice),
})
export type Models = v.InferOutput<typeof Models>

/** A content is echoed unchanged. */
const Said = opaque(MAX_LENGTH.echo)

export const TextPart = v.object({ type: v.literal('text'), text: Said })
/** Its length is that of JSON Schema, in characters: clients of others know no other. */
export const OtherPart = v.object({
  type: v.pipe(
    v.string(),
    v.maxLength(128),
    v.check((type) => [...type].length <= 64, 'must be at most 64 characters'),
    v.metadata({ maxLength: 64 }),
    v.notValue('text'),
  ),
})

/** A part of a content: text is echoed; images, sounds and files are not. */
export const ContentPart = v.variant('type', [TextPart, OtherPart])

export const TextContent = v.nullable(Said)
export const PartsContent = v.array(ContentPart)

export const CompletionMessage = v.object({
  role: v.picklist(['developer', 'system', 'user', 'assistant', 'tool', 'function']),
  content: v.optional(v.union([TextContent, PartsContent])),
})
export type CompletionMessage = v.InferOutput<typeof CompletionMessage>

export const StreamOptions = v.nullable(plainObject({ include_usage: v.optional(v.nullable(v.boolean())) }))

export const CompletionInput = v.object({
  // Every chunk of a streamed answer repeats it.
  model: v.pipe(v.string(), v.minLength(1), v.maxLength(256), v.description('Any name; the response repeats it')),
  messages: v.pipe(v.array(CompletionMessage), v.minLength(1)),
  stream: v.optional(v.nullable(v.boolean())),
  stream_options: v.optional(StreamOptions),
})
export type CompletionInput = v.InferOutput<typeof CompletionInput>

export const CompletionUsage = v.object({ prompt_tokens: Count, completion_tokens: Count, total_tokens: Count })
export type CompletionUsage = v.InferOutput<typeof CompletionUsage>

export const CompletionAnswer = v.object({ role: v.literal('assistant'), content: v.nullable(v.string()) })

/** `stop` of the echo; the others of assistants. */
export const FinishReason = v.picklist(['stop', 'length', 'content_filter'])

export const CompletionChoice = v.object({
  index: Count,
  message: CompletionAnswer,
  finish_reason: FinishReason,
})

/** A whole answer: a choice for each message, in their order. */
export const Completion = v.object({
  id: v.string(),
  object: v.literal('chat.completion'),
  created: Seconds,
  model: v.string(),
  choices: v.array(CompletionChoice),
  usage: CompletionUsage,
})
export type Completion = v.InferOutput<typeof Completion>

export const CompletionDelta = v.object({
  role: v.optional(v.literal('assistant')),
  content: v.optional(v.nullable(v.string())),
})

export const CompletionChunkChoice = v.object({
  index: Count,
  delta: CompletionDelta,
  finish_reason: v.nullable(FinishReason),
})

/** Null in every chunk but the last, if requested. */
export const CompletionChunkUsage = v.nullable(v.object(CompletionUsage.entries))

/** A chunk of a streamed answer. */
export const CompletionChunk = v.object({
  id: v.string(),
  object: v.literal('chat.completion.chunk'),
  created: Seconds,
  model: v.string(),
  choices: v.array(CompletionChunkChoice),
  usage: v.optional(CompletionChunkUsage),
})
export type CompletionChunk = v.InferOutput<typeof CompletionChunk>

export const CompatError = v.object({
  message: v.string(),
  type: v.picklist(['invalid_request_error', 'server_error']),
  param: v.pipe(v.nullable(v.string()), v.description('The invalid field, such as `messages[0].role`')),
  code: v.string(),
})

/** The format of every failure of this API. */
export const CompatFailure = v.object({ error: CompatError })
export type CompatFailure = v.InferOutput<typeof CompatFailure>
