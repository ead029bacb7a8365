/** Shorter names are never cut. */
const MIN_CUT = 20

/** What is left of a name behind the cut: its extension, and as much before that. */
const END_LENGTH = 4
const MAX_EXTENSION = 10

/** A name in two parts, of which the first may be cut. */
export function cutName(name: string): [beginning: string, end: string] {
  // What a reader sees as one letter stays whole.
  const letters = Array.from(new Intl.Segmenter().segment(name), ({ segment }) => segment)
  if (letters.length < MIN_CUT) return [name, '']
  const dot = letters.lastIndexOf('.')
  const extension = dot > 0 && letters.length - dot <= MAX_EXTENSION ? letters.length - dot : 0
  const cut = letters.length - extension - END_LENGTH
  return [letters.slice(0, cut).join(''), letters.slice(cut).join('')]
}
