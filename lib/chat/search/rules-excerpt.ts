import { findPhrase, type Phrase } from './rules-query.ts'
import type { Atom } from './rules-words.ts'

/** A part of a text around the first match. */
export interface Excerpt {
  text: string
  /** Where the matches are in it, in UTF-16 units. */
  ranges: [start: number, end: number][]
}

/** The longest excerpt, in UTF-16 units, and how much of it is before the first match. */
const LONGEST = 200
const BEFORE = 60

/** The excerpt of a text that has some of these phrases; `undefined` if it has none. */
export function excerptOf(text: string, atoms: readonly Atom[], phrases: readonly Phrase[]): Excerpt | undefined {
  const found = phrases.flatMap((phrase) => {
    const place = findPhrase(atoms, phrase)
    return place ? [[atoms[place[0]]!.start, atoms[place[1] - 1]!.end] as [number, number]] : []
  })
  if (found.length === 0) return undefined
  const matches = found.sort((a, b) => a[0] - b[0])
  const [first] = matches as [[number, number]]
  const from = boundary(text, Math.max(0, Math.min(first[0] - BEFORE, text.length - LONGEST)), 1)
  const to = boundary(text, Math.min(text.length, from + LONGEST), -1)
  const ranges = matches
    .filter(([start, end]) => start >= from && end <= to)
    .map(([start, end]) => [start - from, end - from] as [number, number])
  return { text: text.slice(from, to), ranges: ranges.filter(([start], n) => n === 0 || start >= ranges[n - 1]![1]) }
}

const GRAPHEMES = new Intl.Segmenter('en')

/** The next boundary between graphemes at or after (`1`), or at or before (`-1`) a place. */
function boundary(text: string, at: number, direction: 1 | -1): number {
  if (at <= 0 || at >= text.length) return Math.max(0, Math.min(at, text.length))
  // No grapheme in use is longer than this.
  const from = Math.max(0, at - 100)
  const near = text.slice(from, at + 100)
  const segment = GRAPHEMES.segment(near).containing(at - from)!
  if (segment.index + from === at) return at
  return from + (direction < 0 ? segment.index : segment.index + segment.segment.length)
}
