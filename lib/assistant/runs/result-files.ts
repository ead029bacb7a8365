import type { CallMove } from '../../chat/answers/calls.ts'
import { addGenerated, roomForFiles } from '../../chat/attachments/generated.ts'
import type { Tx } from '../../live/transaction/transaction.ts'

/** Leaves out the files of results beyond those that an answer may have: several calls may end at once. */
export async function withoutExcessFiles(tx: Tx, messageId: string, moves: readonly CallMove[]): Promise<CallMove[]> {
  if (filesOf(moves).length === 0) return [...moves]
  const kept = new Set(filesOf(moves).slice(0, await roomForFiles(tx, messageId)))
  return moves.map(({ parts, ...move }) =>
    parts ? { ...move, parts: parts.filter((part) => part.type !== 'file' || kept.has(part.attachment_id!)) } : move,
  )
}

/** Gives an answer the files of results that are its rows now. */
export async function addFiles(tx: Tx, messageId: string, moves: readonly CallMove[]): Promise<void> {
  for (const id of filesOf(moves)) await addGenerated(tx, messageId, id)
}

const filesOf = (moves: readonly CallMove[]): string[] =>
  moves.flatMap(({ parts = [] }) => parts.flatMap((part) => (part.type === 'file' ? part.attachment_id! : [])))
