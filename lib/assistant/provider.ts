import type { Part, Usage } from '../api/answers.ts'
import type { Config } from '../api/config.ts'

/** The author of a turn. */
export type TurnRole = 'system' | 'user' | 'assistant'

/** One turn of the conversation that an answer continues. */
export interface Turn {
  role: TurnRole
  content: string
  /** The user who wrote it or asked for it; missing for a deleted account and for the system prompt. */
  user_id?: string
  /** The name of the user, with which the content begins: where several users write, unless the assistant wants none. */
  name?: string
  /** The files of the message. */
  attachments?: { id: string; name: string; type: string; size: number }[]
  /** The parts of an earlier answer that has others than text. */
  parts?: GivenPart[]
}

/** A part of an answer as its provider gets it, in a later step or for a later answer. */
export type GivenPart = Part & {
  /** The last that was kept with a chunk of the part. */
  provider_data?: unknown
  /** The `id` that the provider gave to a call that it runs itself. */
  provider_id?: string
}

/** A tool that an answer may use. */
export interface OfferedTool {
  name: string
  description: string
  /** The JSON Schema of its input, which is an object. */
  schema: object
}

/** The input of an assistant. */
export interface AssistantRequest {
  message_id: string
  conversation_id: string
  root_id: string
  /** The user who asked. */
  requested_by: string
  /** The key of the assistant that is asked: one function may write the answers of several. */
  assistant: string
  /** What is wanted: an answer; or a title for the conversation after its first answer, which `titles` allows. */
  purpose: 'answer' | 'title'
  /** The conversation. */
  conversation: { id: string; title: string; ref?: string; metadata?: Record<string, unknown> }
  /** The metadata of the question; `{}` without any. */
  metadata: Record<string, unknown>
  /** The tools that may be called with `{ tool_call }`; empty in the last step. */
  tools: OfferedTool[]
  /** How often the provider was called for this answer, from 1: with tools, once more after the calls of each step. */
  step: number
  /** The parts of this answer that earlier steps have written, calls of tools with their results; empty in the first. */
  so_far: GivenPart[]
  /** The path from the thread's root to the message, oldest first; the last turn is the prompt. Never empty. */
  turns: Turn[]
  /**
   * The bytes of a file of these turns, read as they are needed, with the rights of the user who asked, at the time of the
   * call. Reading them throws a `ChatError`: `not_found` for another file, and for one that was deleted, or that the user
   * may not read any more; `attachment_not_ready`, `attachment_refused`; `unavailable`.
   */
  open(attachment_id: string): AsyncIterable<Uint8Array>
  /** Aborts when the rest is not needed any more: cancelled, deleted, timed out, or the service stops. */
  signal: AbortSignal
}

/** A call of a tool that the provider runs itself: with `output` or `error` it has ended. One call has one `id`. */
export interface ProviderTool {
  id: string
  name: string
  input?: unknown
  output?: unknown
  error?: string
}

/** What an answer refers to: a page with an http(s) address, or a file with its media type. */
export interface ProviderSource {
  url?: string
  filename?: string
  media_type?: string
  title?: string
  /** Where the text refers to it, in UTF-16 units: from, to. */
  range?: [from: number, to: number]
}

/** Text, or text with fields of the whole answer. The last value of each field counts. */
export interface TextPiece {
  delta?: string
  usage?: Usage
  finish_reason?: string
  /** Replaces the metadata of the message, which are those of the question until then. */
  metadata?: Record<string, unknown>
}

/** A chunk of an answer beside its text: one part of it, or a change of one. */
export type PartPiece =
  | { reasoning: string }
  /** A tool of the request that the service is to run. `input` is a value, or its JSON. */
  | { tool_call: { id?: string; name: string; input: unknown } }
  | { tool: ProviderTool }
  | { source: ProviderSource }
  | { file: { name: string; bytes: Uint8Array } }
  /** One name and key make one part: its last value counts. */
  | { data: { name: string; key?: string; data: unknown } }

/**
 * A chunk of an answer. `provider_data` is JSON that is stored with the chunk, returned to the provider, and shown to no
 * reader.
 */
export type AnswerPiece = string | ((TextPiece | PartPiece) & { provider_data?: unknown })

/**
 * Writes answers: yields one chunk after another, and returns when the answer is complete. An exception ends the answer
 * as failed; an {@link AnswerFailure} has the reason, any other error is logged and reported as `provider_error`. Once
 * `signal` has aborted, it ends as soon as it can, complete or not, with or without an exception: both are fine.
 */
export type Assistant = (request: AssistantRequest) => AsyncIterable<AnswerPiece>

/**
 * An assistant beside the default, in code: what writes its answers, and settings as in the section `assistants` of the
 * configuration. What is left out is that of the section `assistant`.
 */
export interface HostedAssistant extends Omit<Config['assistants'][string], 'provider'> {
  provider: Assistant | 'echo' | 'openai'
}
