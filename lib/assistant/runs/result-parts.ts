import { AnswerFailure } from '../../chat/answers/answer-failure.ts'
import type { NewPart } from '../../chat/answers/calls.ts'
import { MAX_ROW } from '../answer-parts.ts'
import { toJsonText } from '../json-value.ts'
import { toPiece } from '../pieces.ts'
import type { ToolPart } from '../tools/definition.ts'

/** The parts of one result beyond this number are dropped. */
const MAX_PARTS = 64

/**
 * The parts that a tool returns beside its output, as rows of its answer.
 *
 * @param onBad gets what is wrong with a part, which is left out: the tool has run all the same
 */
export function toResultParts(parts: readonly ToolPart[], onBad: (cause: string) => void): NewPart[] {
  if (parts.length > MAX_PARTS) onBad(`more than ${MAX_PARTS} parts`)
  return parts.slice(0, MAX_PARTS).flatMap((part) => {
    try {
      return toNewPart(part)
    } catch (error) {
      onBad(error instanceof AnswerFailure ? String(error.cause) : String(error))
      return []
    }
  })
}

function toNewPart(value: ToolPart): NewPart {
  const piece = toPiece(value)
  const part: NewPart | undefined =
    'source' in piece
      ? { type: 'source', ...piece.source }
      : 'data' in piece
        ? { type: 'data', ...piece.data }
        : undefined
  if (!part) throw new AnswerFailure('invalid_answer', 'no part of a result')
  const size = Buffer.byteLength(toJsonText(part, 'a part'))
  if (size > MAX_ROW) throw new AnswerFailure('invalid_answer', `a part of more than ${MAX_ROW} bytes`)
  return part
}
