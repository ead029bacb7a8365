import * as v from 'valibot'
import { LONGEST, opaque } from '../schema.ts'

const Count = v.pipe(v.number(), v.integer(), v.minValue(0))
const Seconds = v.pipe(Count, v.description('Seconds since 1970'))

/** The two models there are: once as OpenAI lists them, once with what to show of them. */
export const Models = v.object({
  object: v.literal('list'),
  data: v.array(v.object({ id: v.string(), object: v.literal('model'), created: Seconds, owned_by: v.string() })),
  models: v.array(v.object({ id: v.string(), name: v.string(), model_type: v.literal('chat') })),
})
export type Models = v.InferOutput<typeof Models>

/** A content is echoed as it came: the longest that any message of ours can be. */
const Said = opaque(LONGEST.message)

/** A part of a content: its text is echoed, an image, a sound or a file is not. */
const Part = v.variant('type', [
  v.object({ type: v.literal('text'), text: Said }),
  v.object({ type: v.pipe(v.string(), v.maxLength(64), v.notValue('text')) }),
])

const CompletionMessage = v.object({
  role: v.picklist(['developer', 'system', 'user', 'assistant', 'tool', 'function']),
  content: v.optional(v.nullable(v.union([Said, v.array(Part)]))),
})
export type CompletionMessage = v.InferOutput<typeof CompletionMessage>

export const CompletionInput = v.object({
  // Every piece of a streamed answer repeats it.
  model: v.pipe(v.string(), v.minLength(1), v.maxLength(256), v.description('Any name; the answer has the same')),
  messages: v.pipe(v.array(CompletionMessage), v.minLength(1)),
  stream: v.optional(v.nullable(v.boolean())),
  stream_options: v.optional(v.nullable(v.object({ include_usage: v.optional(v.nullable(v.boolean())) }))),
})
export type CompletionInput = v.InferOutput<typeof CompletionInput>

const Usage = v.object({ prompt_tokens: Count, completion_tokens: Count, total_tokens: Count })
export type Usage = v.InferOutput<typeof Usage>

/** An answer in one: a choice for each message, in their order. */
export const Completion = v.object({
  id: v.string(),
  object: v.literal('chat.completion'),
  created: Seconds,
  model: v.string(),
  choices: v.array(
    v.object({
      index: Count,
      message: v.object({ role: v.literal('assistant'), content: v.nullable(v.string()) }),
      finish_reason: v.literal('stop'),
    }),
  ),
  usage: Usage,
})
export type Completion = v.InferOutput<typeof Completion>

/** A piece of an answer that streams. */
export const CompletionChunk = v.object({
  id: v.string(),
  object: v.literal('chat.completion.chunk'),
  created: Seconds,
  model: v.string(),
  choices: v.array(
    v.object({
      index: Count,
      delta: v.object({
        role: v.optional(v.literal('assistant')),
        content: v.optional(v.nullable(v.string())),
      }),
      finish_reason: v.nullable(v.literal('stop')),
    }),
  ),
  usage: v.optional(v.nullable(Usage)),
})
export type CompletionChunk = v.InferOutput<typeof CompletionChunk>

/** The shape of every failure here. */
export const CompatFailure = v.object({
  error: v.object({
    message: v.string(),
    type: v.picklist(['invalid_request_error', 'server_error']),
    param: v.pipe(v.nullable(v.string()), v.description('The field at fault, like `messages[0].role`')),
    code: v.string(),
  }),
})
export type CompatFailure = v.InferOutput<typeof CompatFailure>
