// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { CallOptions } from '../client/call-options.ts'

/** `client.openai`. */
export interface OpenaiAdminClient {
  /**
   * Echo messages as an OpenAI chat completion.
   *
   * Returns one choice for each message, which repeats it. With `stream: true` the same arrives in chunks, with
   * `[DONE]` at the end.
   *
   * @throws ChatError `too_many_streams`, `validation_failed`
   */
  complete(
    input: {
      /** Any name; the response repeats it */
      model: string
      messages: CompletionMessage[]
      stream: true
      stream_options?: { include_usage?: boolean | null | undefined } | null
    },
    options?: CallOptions,
  ): Promise<AsyncGenerator<CompletionChunk>>
  /**
   * Echo messages as an OpenAI chat completion.
   *
   * Returns one choice for each message, which repeats it. With `stream: true` the same arrives in chunks, with
   * `[DONE]` at the end.
   *
   * @throws ChatError `too_many_streams`, `validation_failed`
   */
  complete(
    input: {
      /** Any name; the response repeats it */
      model: string
      messages: CompletionMessage[]
      stream?: false | null | undefined
      stream_options?: { include_usage?: boolean | null | undefined } | null
    },
    options?: CallOptions,
  ): Promise<Completion>

  /**
   * List the models in OpenAI's format.
   *
   * Two models with the same behaviour, in OpenAI's format. `features.openai_compat = false` removes all of `/v1`.
   */
  listModels(options?: CallOptions): Promise<Models>
}

/** The two models: in OpenAI's format, and in the format of model pickers. */
export interface Models {
  object: 'list'
  data: Model[]
  models: ModelChoice[]
}

/** A model as OpenAI lists it. */
export interface Model {
  id: string
  object: 'model'
  /** Seconds since 1970 */
  created: number
  owned_by: string
}

/** A model in the format of model pickers. */
export interface ModelChoice {
  id: string
  name: string
  model_type: 'chat'
}

export interface CompletionMessage {
  role: 'developer' | 'system' | 'user' | 'assistant' | 'tool' | 'function'
  content?: string | null | Part[]
}

/** A part of a content: text is echoed; images, sounds and files are not. */
export type Part = TextPart | OtherPart

export interface TextPart {
  type: 'text'
  text: string
}

/** Its length is that of JSON Schema, in characters: clients of others know no other. */
export interface OtherPart {
  type: string
}

/** A chunk of a streamed answer. */
export interface CompletionChunk {
  id: string
  object: 'chat.completion.chunk'
  /** Seconds since 1970 */
  created: number
  model: string
  choices: CompletionChunkChoice[]
  usage?: { prompt_tokens: number; completion_tokens: number; total_tokens: number } | null
}

export interface CompletionChunkChoice {
  index: number
  delta: CompletionDelta
  finish_reason: 'stop' | null
}

export interface CompletionDelta {
  role?: 'assistant'
  content?: string | null
}

/** A whole answer: a choice for each message, in their order. */
export interface Completion {
  id: string
  object: 'chat.completion'
  /** Seconds since 1970 */
  created: number
  model: string
  choices: CompletionChoice[]
  usage: CompletionUsage
}

export interface CompletionChoice {
  index: number
  message: CompletionAnswer
  finish_reason: 'stop'
}

export interface CompletionAnswer {
  role: 'assistant'
  content: string | null
}

export interface CompletionUsage {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
}
