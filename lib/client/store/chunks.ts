import type { Part, PartChange } from '../../api/answers.ts'
import type { Message } from '../../api/messages.ts'
import { foldParts } from '../../core/parts.ts'

/** A chunk of an answer: text, or a change of a part. */
export type AnswerChunk = string | PartChange

/** An answer in progress with the text and the parts of its chunks. */
export function withChunks<Each extends Message>(message: Each, chunks: readonly AnswerChunk[]): Each {
  const content = chunks.filter((chunk) => typeof chunk === 'string').join('')
  const hasParts = chunks.some((chunk) => typeof chunk !== 'string')
  return { ...message, content, ...(hasParts && { parts: foldParts<Part>(chunks) }) }
}
