import { AnswerFailure } from '../../chat/answers/answer-failure.ts'
import type { NewPart } from '../../chat/answers/calls.ts'
import { causeText } from '../../core/errors.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'
import type { StoredFile } from '../answer-parts.ts'
import { toJsonText } from '../json-value.ts'
import { type CheckedFile, toPiece } from '../pieces.ts'
import type { ToolPart } from '../tools/definition.ts'

/** The parts of one result beyond this number are dropped. */
const MAX_PARTS = 64

/** What becomes of the parts of a result. */
interface Results {
  /** Stores a file for the user who asked. */
  save(file: CheckedFile['file']): Promise<StoredFile>
  /** Gets what is wrong with a part, which is left out: the tool has run all the same. */
  onBad(cause: string): void
}

/** The parts that a tool returns beside its output, as rows of its answer. */
export async function toResultParts(parts: readonly ToolPart[], { save, onBad }: Results): Promise<NewPart[]> {
  if (parts.length > MAX_PARTS) onBad(`more than ${MAX_PARTS} parts`)
  const rows: NewPart[] = []
  for (const part of parts.slice(0, MAX_PARTS)) {
    try {
      rows.push(await toNewPart(part, save))
    } catch (error) {
      onBad(error instanceof AnswerFailure ? String(error.cause) : causeText(error))
    }
  }
  return rows
}

async function toNewPart(value: ToolPart, save: Results['save']): Promise<NewPart> {
  const piece = toPiece(value)
  if ('file' in piece) {
    const { id: attachment_id, name, type: media_type, size } = await save(piece.file)
    return { type: 'file', attachment_id, name, media_type, size }
  }
  const part: NewPart | undefined =
    'source' in piece
      ? { type: 'source', ...piece.source }
      : 'data' in piece
        ? { type: 'data', ...piece.data }
        : undefined
  if (!part) throw new AnswerFailure('invalid_answer', 'no part of a result')
  const size = Buffer.byteLength(toJsonText(part, 'a part'))
  if (size > MAX_LENGTH.part) throw new AnswerFailure('invalid_answer', `a part of more than ${MAX_LENGTH.part} bytes`)
  return part
}
