import { cutBlock, linesOf, weighBlock } from './cut-block.ts'
import { countLines, cutText, MAX_WEIGHT, weigh } from './cut-text.ts'
import type { Shown } from './document.ts'
import type { Piece } from './piece.ts'

/** A part of a message, or a piece of one that is too heavy to be laid out in one step. */
export interface ShownPiece extends Shown {
  /** Whether it goes on with the block before it. */
  isContinued?: boolean
}

interface Sized {
  part: ShownPiece
  weight: number
  lines: number
}

/** A part stays the same object while a text grows: what it was cut into does so, too. */
const cut = new WeakMap<Shown, readonly Sized[]>()

/** The parts of a message in pieces that a browser lays out in one step each. */
export function piecesOf(shown: readonly Shown[]): Piece<ShownPiece>[] {
  const pieces: (Piece<ShownPiece> & { parts: ShownPiece[] })[] = []
  for (const { part, weight, lines } of shown.flatMap(sizedOf)) {
    const last = pieces.at(-1)
    if (last && last.weight + weight <= MAX_WEIGHT) {
      last.parts.push(part)
      last.weight += weight
      last.lines += lines
    } else pieces.push({ parts: [part], weight, lines })
  }
  return pieces
}

function sizedOf(part: Shown): readonly Sized[] {
  const sized = cut.get(part) ?? cutPart(part).map(toSized)
  cut.set(part, sized)
  return sized
}

function cutPart(part: Shown): ShownPiece[] {
  const { block, text } = part
  if (!block) return [part]
  if (block.type === 'plain') return cutPlain(text)
  if (weighBlock(block) <= MAX_WEIGHT) return [part]
  // What cannot be cut is shown as it was typed.
  const blocks = cutBlock(block)
  return blocks ? blocks.map((block, index) => ({ block, text, isContinued: index > 0 })) : cutPlain(text)
}

function cutPlain(text: string): ShownPiece[] {
  return cutText(text).map((piece, index) => ({ block: { type: 'plain' }, text: piece, isContinued: index > 0 }))
}

function toSized(part: ShownPiece): Sized {
  const { block, text } = part
  if (!block) return { part, weight: 0, lines: 0 }
  if (block.type === 'plain') return { part, weight: weigh(text), lines: countLines(text) }
  return { part, weight: weighBlock(block), lines: linesOf(block) }
}
