// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { Completion, CompletionChunk, CompletionMessage, Models } from './openai.ts'

/** `chat.openai`. */
export interface OpenaiUseCases {
  /** The two models of this API; both do the same. */
  listModels(): Models

  /**
   * Echoes the messages, each as a choice of its own: as a whole, or in chunks if the input has `stream: true`.
   *
   * It calls no model and stores nothing.
   *
   * @throws ChatError `too_many_streams`, `validation_failed`
   */
  complete(input: {
    /** Any name; the response repeats it */
    model: string
    messages: CompletionMessage[]
    stream?: boolean | null | undefined
    stream_options?: { include_usage?: boolean | null | undefined } | null
  }): Promise<Completion | Iterable<CompletionChunk>>
}
