import { MAX_LINES } from './cut-text.ts'

/** A piece of a message, which is laid out in one step. */
export interface Piece<Part> {
  parts: readonly Part[]
  weight: number
  lines: number
}

/** How many pieces are shown to a reader that has asked for no more: one at least. */
export function foldedCount(pieces: readonly Piece<unknown>[]): number {
  let lines = 0
  const beyond = pieces.findIndex((piece) => {
    lines += piece.lines
    return lines > MAX_LINES
  })
  return beyond < 0 ? pieces.length : Math.max(1, beyond)
}
