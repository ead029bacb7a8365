import type { Part, PartChange } from '../../api/answers.ts'
import type { Message } from '../../api/messages.ts'
import { foldParts } from '../../core/parts.ts'

/** A chunk of an answer: text, or a change of a part. */
export type AnswerChunk = string | PartChange

/** An answer in progress with the text and the parts of its chunks. */
export function withChunks<Each extends Message>(message: Each, chunks: readonly AnswerChunk[]): Each {
  const content = chunks.filter((chunk) => typeof chunk === 'string').join('')
  if (chunks.every((chunk) => typeof chunk === 'string')) return { ...message, content }
  const parts = foldParts<Part>(chunks)
  return { ...message, content, parts, status: isWaiting(parts) ? 'waiting' : 'streaming' }
}

const RUNNING = ['requested', 'approved', 'running']

/** Whether all that is left of the calls of tools waits for participants. */
function isWaiting(parts: readonly Part[]): boolean {
  const states: string[] = parts.map((part) => (part.type === 'tool' ? part.state : ''))
  return states.includes('waiting') && !RUNNING.some((state) => states.includes(state))
}
