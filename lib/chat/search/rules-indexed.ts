import type { Steps } from '../../core/scheduling/steps.ts'
import { type Atom, atomParts, MAX_WORD } from '../../core/words.ts'

/** The maximum number of different words that are indexed of a text, and of their UTF-16 units together. */
const MAX_WORDS = 10_000
const MAX_UNITS = 250_000

/** The maximum number of words of a text indexed in their order: each costs time and space, also a repeated one. */
export const MAX_IN_ORDER = 2_000

/** The words by which an index finds a text. */
export interface IndexWords {
  /** The words at its beginning, in their order. */
  inOrder: string[]
  /** Further ones, each once. */
  others: string[]
}

/**
 * The words by which an index finds a text: its words and emoji; of each run of a dense script every two neighbours, and
 * its last character. Its other characters are also words by themselves, which have no place in the order.
 */
export function* indexWords(text: string): Steps<IndexWords> {
  const words: Collected = { inOrder: [], others: [], known: new Set(), units: 0 }
  let last: Atom | undefined
  for (const atoms of atomParts(text)) {
    for (const atom of atoms) {
      if (last) collect(words, last, atom)
      if (words.known.size >= MAX_WORDS || words.units > MAX_UNITS - MAX_WORD) return words
      last = atom
    }
    yield
  }
  if (last) collect(words, last, undefined)
  return words
}

interface Collected extends IndexWords {
  known: Set<string>
  /** The length of the known words together. */
  units: number
}

function collect(words: Collected, atom: Atom, next: Atom | undefined): void {
  const { inOrder, others } = words
  const isPair = atom.isDense && next?.isDense === true && next.isJoined
  const word = isPair ? atom.text + next.text : atom.text
  const isOther = isNew(words, word) && inOrder.length === MAX_IN_ORDER
  if (inOrder.length < MAX_IN_ORDER) inOrder.push(word)
  else if (isOther) others.push(word)
  if (isPair && isNew(words, atom.text)) others.push(atom.text)
}

function isNew(words: Collected, word: string): boolean {
  if (words.known.has(word)) return false
  words.units += word.length
  words.known.add(word)
  return true
}
