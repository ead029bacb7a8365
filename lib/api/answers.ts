// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { CallOptions } from '../client/call-options.ts'

/** `client.answers`. */
export interface AnswersClient {
  /**
   * Stop an assistant answer; the text so far is kept.
   *
   * Allowed for the user who asked, and for owners and admins of the conversation. Returns the status of the message
   * after the call; an ended answer does not change.
   *
   * @throws ChatError `not_found`, `forbidden`
   */
  cancel(message_id: string, options?: CallOptions): Promise<CancelledAnswer>

  /**
   * List the chunks of an assistant answer.
   *
   * Joined by `idx`, they are the original answer, also after an edit. Empty for other messages and for deleted
   * ones. A page may end early: continue with `from`, the last `idx` + 1, until the page is empty.
   *
   * @throws ChatError `not_found`, `validation_failed`
   */
  listChunks(
    message_id: string,
    input?: {
      /** The first `idx` to list */
      from?: number | undefined
      /** At most 1000; larger values are lowered to it */
      limit?: number | undefined
    },
    options?: CallOptions,
  ): Promise<Chunk[]>
}

/** The token usage of an answer, as its provider counts it. */
export interface Usage {
  prompt_tokens?: number
  completion_tokens?: number
  total_tokens?: number
}

/** The response to a cancellation: the present state of the message. */
export interface CancelledAnswer {
  message_id: string
  status: 'streaming' | 'complete' | 'cancelled' | 'failed' | 'interrupted'
}

/** A chunk of an answer as it was stored and sent: joined in the order of `idx`, the chunks are the text. */
export interface Chunk {
  message_id: string
  idx: number
  content: string
  created_at: string
}

/** A chunk of an answer as it is sent, in the format of OpenAI's streams. */
export interface MessageDelta {
  /** `<message_id>:<idx>` */
  id: string
  object: 'chat.completion.chunk'
  root_id: string
  message_id: string
  conversation_id: string
  parent_id?: string
  depth: number
  /** Exactly one */
  choices: MessageDeltaChoice[]
}

export interface MessageDeltaChoice {
  index: 0
  delta: MessageDeltaContent
}

/** The text that a chunk adds to an answer; `role` is in the first chunk. */
export interface MessageDeltaContent {
  role?: 'assistant'
  content: string
}
