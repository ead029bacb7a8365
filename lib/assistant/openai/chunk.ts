import * as v from 'valibot'
import { AnswerFailure } from '../../chat/answers/answer-failure.ts'
import { Usage } from '../../chat/answers/schema.ts'
import type { TextPiece } from '../provider.ts'

/** What one event of a streamed answer, or a response that is not streamed, contains. */
export type ChunkPiece = TextPiece

/** A keyword of the protocol. It is logged, so free text of the server does not match. */
const FinishReason = v.pipe(v.string(), v.regex(/^[\w-]{0,64}$/))

const Said = v.nullish(v.object({ content: v.nullish(v.string()) }))

/** Servers leave out fields without a value, or send null. */
const Chunk = v.pipe(
  v.object({
    choices: v.nullish(v.array(v.object({ delta: Said, message: Said, finish_reason: v.nullish(FinishReason) }))),
    usage: v.fallback(v.nullish(Usage), undefined),
  }),
  v.check(({ choices, usage }) => Boolean(choices ?? usage)),
)

/**
 * The chunk of an answer in `text`, a `chat.completion.chunk` or a whole `chat.completion`: often empty.
 *
 * @param summary makes a loggable summary of a text
 * @throws AnswerFailure `provider_error` when the server reports an error, `invalid_answer` for anything else
 */
export function parseChunk(text: string, summary: (said: string) => string): ChunkPiece {
  const json = parse(text)
  if (hasError(json)) throw new AnswerFailure('provider_error', summary(text))
  const chunk = v.safeParse(Chunk, json)
  if (!chunk.success) throw new AnswerFailure('invalid_answer', summary(text))
  const { choices, usage } = chunk.output
  const { delta, message, finish_reason } = choices?.[0] ?? {}
  const content = (delta ?? message)?.content
  return { ...(content && { delta: content }), ...(usage && { usage }), ...(finish_reason && { finish_reason }) }
}

/** @returns `undefined` for invalid JSON: the parser's own error would quote it */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function hasError(json: unknown): boolean {
  return typeof json === 'object' && json !== null && 'error' in json && Boolean(json.error)
}
