import { ChatError } from '../core/errors.ts'
import type {
  CompatFailure,
  Completion,
  CompletionChunk,
  CompletionInput,
  CompletionMessage,
  CompletionUsage,
} from './schema.ts'

/**
 * A few words, or a part of a long one; shorter only at the end: chunks of single letters would be a hundred times
 * larger than the question.
 */
const PIECE = /.{64,128}?(?=\s|$)|.{64}|.+/gsu

/** The fields that all chunks of one answer share. */
type Head = Pick<Completion, 'id' | 'created' | 'model'>

/** The whole answer: each message again, as a message of the assistant. */
export function echo(head: Head, { messages }: CompletionInput): Completion {
  const contents = messages.map(textOf)
  return {
    ...head,
    object: 'chat.completion',
    choices: contents.map((content, index) => ({
      index,
      message: { role: 'assistant', content },
      finish_reason: 'stop',
    })),
    usage: usageOf(contents),
  }
}

/** The whole answer in chunks, one choice after the other: its role, its text in parts, its end. */
export function* echoInPieces(head: Head, { messages, stream_options }: CompletionInput): Generator<CompletionChunk> {
  const contents = messages.map(textOf)
  const withUsage = stream_options?.include_usage === true
  const chunk = (choices: CompletionChunk['choices'], usage: CompletionUsage | null = null): CompletionChunk => ({
    ...head,
    object: 'chat.completion.chunk',
    choices,
    ...(withUsage && { usage }),
  })
  for (const [index, content] of contents.entries()) {
    yield chunk([{ index, delta: { role: 'assistant', content: content === null ? null : '' }, finish_reason: null }])
    for (const [piece] of (content ?? '').matchAll(PIECE))
      yield chunk([{ index, delta: { content: piece }, finish_reason: null }])
    yield chunk([{ index, delta: {}, finish_reason: 'stop' }])
  }
  if (withUsage) yield chunk([], usageOf(contents))
}

/** A failure in OpenAI's format; the first invalid field is the `param`. */
export function toCompatFailure({ status, code, message, errors = [] }: ChatError): CompatFailure {
  const fields = errors.map(({ path, message }) => (path ? `${path}: ${message}` : message))
  return {
    error: {
      message: fields.length > 0 ? `${message} ${fields.join('; ')}` : message,
      type: status < 500 ? 'invalid_request_error' : 'server_error',
      param: errors[0]?.path || null,
      code,
    },
  }
}

/** The echoed text of a message: its content, or its text parts joined; `null` without any. */
function textOf({ content }: CompletionMessage): string | null {
  if (content === undefined || content === null || typeof content === 'string') return content ?? null
  return content.map((part) => ('text' in part ? part.text : '')).join('')
}

/** There is no tokenizer: four characters count as a token, roughly as in English. */
function usageOf(contents: (string | null)[]): CompletionUsage {
  const tokens = contents.reduce((sum, content) => sum + Math.ceil((content ?? '').length / 4), 0)
  return { prompt_tokens: tokens, completion_tokens: tokens, total_tokens: 2 * tokens }
}

/** A failure after the question was stored: the same call would ask again, which clients of OpenAI must not do by themselves. */
export class FailedAfterAsking extends ChatError {
  constructor(cause: ChatError) {
    const { code, message, retry_after_seconds } = cause
    super(code, { cause, message, retry_after_seconds })
  }
}

/** @throws unknown what it gets, marked */
export function throwAfterAsking(error: unknown): never {
  throw error instanceof ChatError ? new FailedAfterAsking(error) : error
}
