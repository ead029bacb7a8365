import { foldedUnit, KIND, type Kind, partsOf, pieceAt, UNIT, unitKind } from './folding.ts'

/**
 * The analysis of texts for the search, the same on both databases: none of their parsers, dictionaries or locales is
 * used. This number changes with its results: then the index is rebuilt.
 */
export const ANALYSIS = 3

/** The smallest part of a text that is compared: a word, an emoji, or one character of a dense script. */
export interface Atom {
  /** As it is compared: without case, and without the marks of Latin, Greek, Cyrillic, Arabic and Hebrew letters. */
  text: string
  /** Its place in the text as given, in UTF-16 units. */
  start: number
  end: number
  /** A character of a script without spaces between words: Chinese, Japanese, Korean, Thai, Lao, Khmer, Burmese. */
  isDense: boolean
  /** Whether nothing is between it and the atom before. */
  isJoined: boolean
}

/** A word is cut at this length, in UTF-16 units. */
export const MAX_WORD = 64

/** How much of a text is read at a time, in UTF-16 units: about a millisecond, also of the slowest texts. */
const PART_UNITS = 1_024

/** How far a text has been read. */
interface Reading {
  /** The index from which it is read on. */
  at: number
  /** Where the last atom and the invisible characters behind it end. */
  end: number
  /** What the last atom is. */
  kind: Kind | undefined
  atoms: Atom[]
}

/** The atoms of a short text, in their order. */
export function splitAtoms(text: string): Atom[] {
  const reading: Reading = { at: 0, end: -1, kind: undefined, atoms: [] }
  readOn(text, reading, text.length)
  return reading.atoms
}

/**
 * The atoms of a text of any length, in their order: those of one part of it after another, so that others can have a turn
 * between two parts. A word that continues in the next part is in that one.
 */
export function* atomParts(text: string, units = PART_UNITS): Generator<Atom[], void, void> {
  const reading: Reading = { at: 0, end: -1, kind: undefined, atoms: [] }
  while (reading.at < text.length) {
    readOn(text, reading, Math.min(text.length, reading.at + units))
    const last = reading.at < text.length ? reading.atoms.pop() : undefined
    yield reading.atoms
    reading.atoms = last ? [last] : []
  }
}

const kindAt = (text: string, index: number) => (index < text.length ? unitKind(text.charCodeAt(index)) : UNIT.none)

/** Reads up to an index, or to the end of the piece there. Most units are read one by one, whatever is next to them. */
function readOn(text: string, reading: Reading, until: number): void {
  let { at } = reading
  let kind = kindAt(text, at)
  while (at < until) {
    let next = at + 1
    let nextKind = kindAt(text, next)
    if (kind === UNIT.letter || kind === UNIT.digit)
      while (nextKind === kind && next < until) nextKind = kindAt(text, ++next)
    // The unit before a special one may be a piece with it.
    if (nextKind === UNIT.special && next > at + 1) [next, nextKind] = [next - 1, kind]
    if (kind === UNIT.special || nextKind === UNIT.special) {
      at = readPiece(text, reading, at)
      kind = kindAt(text, at)
    } else {
      if (kind !== UNIT.none) {
        let folded = foldedUnit(text.charCodeAt(at))
        for (let index = at + 1; index < next; index++) folded += foldedUnit(text.charCodeAt(index))
        add(reading, kind as Kind, folded, at, next)
      }
      at = next
      kind = nextKind
    }
  }
  reading.at = at
}

/** Reads the piece that begins at an index, if one does. @returns where it ends */
function readPiece(text: string, reading: Reading, at: number): number {
  const piece = pieceAt(text, at)
  if (piece === undefined) return at + (text.codePointAt(at)! > 0xffff ? 2 : 1)
  const end = at + piece.length
  const parts = partsOf(piece)
  if (parts.length === 0 && reading.end === at) reading.end = end
  for (const [n, [kind, folded]] of parts.entries()) {
    // Further parts of one character are words of their own.
    if (n > 0)
      reading.atoms.push({ text: cutWord(folded), start: at, end, isDense: kind === KIND.dense, isJoined: true })
    else add(reading, kind, folded, at, end)
    reading.kind = kind
  }
  return end
}

/** A letter or a digit behind another one continues its word. */
function add(reading: Reading, kind: Kind, folded: string, start: number, end: number): void {
  const isJoined = reading.end === start
  reading.end = end
  if (isJoined && kind === reading.kind && kind <= KIND.digit) {
    const word = reading.atoms.at(-1)!
    word.text = cutWord(word.text + folded)
    word.end = end
    return
  }
  reading.kind = kind
  reading.atoms.push({ text: cutWord(folded), start, end, isDense: kind === KIND.dense, isJoined })
}

/** A word up to its maximum length. Half of a character would be no text for PostgreSQL. */
export function cutWord(word: string): string {
  if (word.length <= MAX_WORD) return word
  const end = MAX_WORD - (word.codePointAt(MAX_WORD - 1)! > 0xffff ? 1 : 0)
  return word.slice(0, end)
}
