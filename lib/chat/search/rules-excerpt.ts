import type { Place } from './rules-places.ts'

/** A part of a text around the first match. */
export interface Excerpt {
  text: string
  /** Where the matches are in it, in UTF-16 units. */
  ranges: [start: number, end: number][]
}

/** The longest excerpt, in UTF-16 units, and how much of it is before the first match. */
const MAX_EXCERPT_LENGTH = 200
const BEFORE = 60

/** The excerpt of a text around places in it; `undefined` if there are none. */
export function toExcerpt(text: string, places: readonly Place[]): Excerpt | undefined {
  const matches = places.toSorted((a, b) => a[0] - b[0])
  const [first] = matches
  if (!first) return undefined
  const from = boundary(text, Math.max(0, Math.min(first[0] - BEFORE, text.length - MAX_EXCERPT_LENGTH)), 1)
  const to = boundary(text, Math.min(text.length, from + MAX_EXCERPT_LENGTH), -1)
  const ranges = matches
    .filter(([start]) => start < to)
    .map(([start, end]) => [start - from, Math.min(end, to) - from] as [number, number])
  return { text: text.slice(from, to), ranges: ranges.filter(([start], n) => n === 0 || start >= ranges[n - 1]![1]) }
}

const GRAPHEMES = new Intl.Segmenter('en')

/** How far a grapheme is looked for before and behind a place. None in use is longer. */
const NEAR = 32

/** The next boundary between graphemes at or after (`1`), or at or before (`-1`) a place. */
function boundary(text: string, at: number, direction: 1 | -1): number {
  if (at <= 0 || at >= text.length) return Math.max(0, Math.min(at, text.length))
  const from = Math.max(0, at - NEAR)
  const segment = GRAPHEMES.segment(text.slice(from, at + NEAR)).containing(at - from)!
  if (segment.index + from === at) return at
  const end = from + (direction < 0 ? segment.index : segment.index + segment.segment.length)
  // A longer one, such as a letter with a hundred marks, is cut, but no character is.
  return isSplit(text, end) ? end + direction : end
}

/** Whether a place is between the two halves of a character. */
function isSplit(text: string, at: number): boolean {
  return at > 0 && text.codePointAt(at - 1)! > 0xffff
}
