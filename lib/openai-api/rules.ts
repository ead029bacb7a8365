import type { ChatError } from '../core/errors.ts'
import type { CompatFailure, Completion, CompletionChunk, CompletionInput, CompletionMessage, Usage } from './schema.ts'

/** Some words, or a part of a long one; short only at the end: of single letters, an answer would be a hundred times its question. */
const PIECE = /.{64,128}?(?=\s|$)|.{64}|.+/gsu

/** What all pieces of one answer have in common. */
type Head = Pick<Completion, 'id' | 'created' | 'model'>

/** The answer in one: each message again, as said by the assistant. */
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

/** The same answer in pieces, one choice after the other: its role, its text bit by bit, its end. */
export function* echoInPieces(head: Head, { messages, stream_options }: CompletionInput): Generator<CompletionChunk> {
  const contents = messages.map(textOf)
  const withUsage = stream_options?.include_usage === true
  const chunk = (choices: CompletionChunk['choices'], usage: Usage | null = null): CompletionChunk => ({
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

/** A failure as clients of OpenAI understand it; the first field at fault is the `param`. */
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

/** What of a message is echoed: its text, or that of its text parts one after the other; `null` where it has none. */
function textOf({ content }: CompletionMessage): string | null {
  if (content === undefined || content === null || typeof content === 'string') return content ?? null
  return content.map((part) => ('text' in part ? part.text : '')).join('')
}

/** There is no tokenizer here: four characters are a token, as they about are in English. */
function usageOf(contents: (string | null)[]): Usage {
  const tokens = contents.reduce((sum, content) => sum + Math.ceil((content ?? '').length / 4), 0)
  return { prompt_tokens: tokens, completion_tokens: tokens, total_tokens: 2 * tokens }
}
