import type { Steps } from '../../core/scheduling/steps.ts'
import { type Atom, atomParts } from '../../core/words.ts'
import type { Phrase } from './rules-query.ts'

/** Where a phrase is in a text, in UTF-16 units. */
export type Place = [start: number, end: number]

/**
 * The first place of each of these phrases in a text of any length; `undefined` for one that is not there. It ends where all
 * of them are found.
 */
export function* findPlaces(text: string, phrases: readonly Phrase[]): Steps<(Place | undefined)[]> {
  const places: (Place | undefined)[] = phrases.map(() => undefined)
  const longest = Math.max(0, ...phrases.map(({ atoms }) => atoms.length))
  // A phrase may begin in one part of the text and end in the next one.
  let before: Atom[] = []
  for (const part of atomParts(text)) {
    const atoms = [...before, ...part]
    for (const [n, phrase] of phrases.entries()) places[n] ??= findPlace(atoms, phrase)
    if (places.every((place) => place !== undefined)) break
    before = longest > 1 ? atoms.slice(1 - longest) : []
    yield
  }
  return places
}

function findPlace(text: readonly Atom[], phrase: Phrase): Place | undefined {
  const { length } = phrase.atoms
  for (let start = 0; start + length <= text.length; start++)
    if (isAt(text, start, phrase)) return [text[start]!.start, text[start + length - 1]!.end]
  return undefined
}

function isAt(text: readonly Atom[], start: number, { atoms, isPrefix }: Phrase): boolean {
  for (let n = 0; n < atoms.length; n++) {
    const atom = atoms[n]!
    const character = text[start + n]!
    const isBeginning = isPrefix && n === atoms.length - 1
    if (isBeginning ? !character.text.startsWith(atom.text) : character.text !== atom.text) return false
    // Two characters of a dense script are a word only without anything between them.
    if (n > 0 && atom.isDense && atom.isJoined && atoms[n - 1]!.isDense && !character.isJoined) return false
  }
  return true
}
