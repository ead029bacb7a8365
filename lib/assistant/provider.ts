import type { Usage } from '../chat/answers/schema.ts'

/** Who says a turn of the talk that an answer continues. */
export type TurnRole = 'system' | 'user' | 'assistant'

/** One turn of the talk that an answer continues. */
export interface Turn {
  role: TurnRole
  content: string
  /** Who said it, or asked for it; missing when the account is gone, and for the system prompt. */
  user_id?: string
}

/** What an assistant is asked. */
export interface AssistantRequest {
  message_id: string
  conversation_id: string
  root_id: string
  /** Who asked. */
  requested_by: string
  /** The path from the thread's root to the message, oldest first; the last turn is the prompt. Never empty. */
  turns: Turn[]
  /** Aborts when nobody wants the rest any more: cancelled, deleted, too slow, or the service stops. */
  signal: AbortSignal
}

/** A piece of an answer: text, or text with what is known of the answer as a whole. The last one given counts. */
export type AnswerPiece = string | { delta?: string; usage?: Usage; finish_reason?: string }

/**
 * Writes answers: yields one piece after another, and ends when the answer is whole. What it throws ends the answer as
 * failed; an {@link AnswerFailure} says why, anything else is logged and shown as `provider_error`. Once `signal` has
 * aborted it ends as soon as it can, whole or not, with or without a throw: that is then the end that counts.
 */
export type Assistant = (request: AssistantRequest) => AsyncIterable<AnswerPiece>
