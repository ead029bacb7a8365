/**
 * The analysis of texts for the search, the same on both databases: none of their parsers, dictionaries or locales is
 * used. This number changes with its results: then the index is built anew.
 */
export const ANALYSIS = 2

/** The smallest part of a text that is compared: a word, an emoji, or one character of a dense script. */
export interface Atom {
  /** As it is compared: without case, and without accents of Latin, Greek and Cyrillic letters. */
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

type Kind = 'letter' | 'digit' | 'dense' | 'emoji'

const EMOJI =
  '\\p{RI}{2}|[0-9#*]\\uFE0F?\\u20E3|(?!\\p{ASCII})\\p{Extended_Pictographic}[\\uFE0F\\p{Emoji_Modifier}]*(?:\\u200D\\p{Extended_Pictographic}[\\uFE0F\\p{Emoji_Modifier}]*)*'

/** The conjoining letters of a Korean syllable. */
const SYLLABLE = '[\\u1100-\\u115F\\uA960-\\uA97C][\\u1160-\\u11A7\\uD7B0-\\uD7C6]*[\\u11A8-\\u11FF\\uD7CB-\\uD7FB]*'

/** Invisible characters within words: soft hyphens, joiners, directions; marks of no letter; and the Arabic tatweel. */
const IGNORED = '[\\p{M}\\u00AD\\u0640\\u200C-\\u200F\\u2060\\uFEFF]+'

/** ASCII letters and digits, of which most texts are; an emoji; or a character with its marks. */
const PIECE = new RegExp(
  `[A-Za-z]+(?!\\p{M})|[0-9]+(?![\\p{M}\\uFE0F\\u20E3])|${EMOJI}|${IGNORED}|${SYLLABLE}|[\\p{L}\\p{N}\\p{So}][\\p{M}\\uFF9E\\uFF9F]*`,
  'gu',
)
const ASCII_LETTERS = /^[A-Za-z]+$/
const IS_EMOJI = new RegExp(`^(?:${EMOJI})$`, 'u')
const IS_IGNORED = new RegExp(`^${IGNORED}$`, 'u')
const ACCENTED = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]/u
const DENSE =
  '(?=[\\p{L}\\p{N}])[\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Hang}\\p{scx=Thai}\\p{scx=Lao}\\p{scx=Khmr}\\p{scx=Mymr}]'

/** Parts of what was one character, such as `½` or `㈱`; the vowel `am` of Thai and Lao becomes a mark and a letter. */
const PART = new RegExp(
  `(?<dense>\\p{M}*${DENSE}\\p{M}*)|(?<digit>\\p{N}+)|(?<letter>(?:(?!\\p{M}*${DENSE})[\\p{L}\\p{M}])+)`,
  'gu',
)

/** The atoms of a text, in their order. */
export function atomsOf(text: string): Atom[] {
  return plainAtoms(text) ?? anyAtoms(text)
}

/** The same of a text of which each character is an atom, a part of a word, or nothing, whatever is next to it; else `undefined`. */
function plainAtoms(text: string): Atom[] | undefined {
  const atoms: Atom[] = []
  const { length } = text
  let end = -1
  for (let start = 0; start < length; ) {
    const code = text.charCodeAt(start)
    const kind = unitKind(code)
    if (kind === UNIT.special) return undefined
    let at = start + 1
    if (kind !== UNIT.none) {
      let folded = unitFolded[code]!
      if (kind !== UNIT.dense)
        for (let next = 0; at < length; at++) {
          next = text.charCodeAt(at)
          if (unitKind(next) !== kind) break
          folded += unitFolded[next]!
        }
      atoms.push({ text: cut(folded), start, end: at, isDense: kind === UNIT.dense, isJoined: end === start })
      end = at
    }
    start = at
  }
  return atoms
}

/** The atoms of any text. */
function anyAtoms(text: string): Atom[] {
  const atoms: Atom[] = []
  let last: Kind | undefined
  let end = -1
  PIECE.lastIndex = 0
  for (let match = PIECE.exec(text); match; match = PIECE.exec(text)) {
    const [piece] = match
    const start = match.index
    const isNext = end === start
    const parts = partsOf(piece)
    if (isNext || parts.length > 0) end = start + piece.length
    for (const [n, [kind, folded]] of parts.entries()) {
      const word = atoms.at(-1)
      if (isNext && n === 0 && word && kind === last && (kind === 'letter' || kind === 'digit')) {
        word.text = cut(word.text + folded)
        word.end = end
      } else {
        const isJoined = isNext || n > 0
        atoms.push({ text: cut(folded), start, end, isDense: kind === 'dense', isJoined })
      }
      last = kind
    }
  }
  return atoms
}

/** Half of a character would be no text for PostgreSQL. */
function cut(word: string): string {
  if (word.length <= MAX_WORD) return word
  const end = MAX_WORD - (word.codePointAt(MAX_WORD - 1)! > 0xffff ? 1 : 0)
  return word.slice(0, end)
}

type Part = readonly [Kind, string]

/** The parts of the characters that were seen last: there are about as many in use. */
const seen = new Map<string, Part[]>()
const MAX_SEEN = 10_000

/** The parts of a piece as they are compared: none of invisible characters, several of one such as `½` or `㈱`. */
function partsOf(piece: string): Part[] {
  if (ASCII_LETTERS.test(piece)) return [['letter', piece.toLowerCase()]]
  const known = seen.get(piece)
  if (known) return known
  const parts = readParts(piece)
  if (seen.size === MAX_SEEN) seen.clear()
  if (piece.length <= 2) seen.set(piece, parts)
  return parts
}

function readParts(piece: string): Part[] {
  if (IS_EMOJI.test(piece)) return [['emoji', piece.replaceAll('\uFE0F', '')]]
  if (IS_IGNORED.test(piece)) return []
  return [...fold(piece).matchAll(PART)].map(({ 0: each, groups }) => [
    groups!.dense ? 'dense' : groups!.digit ? 'digit' : 'letter',
    each,
  ])
}

/** Compatible characters are one (NFKC), cases are, and so are Latin, Greek and Cyrillic letters with and without accents. */
function fold(piece: string): string {
  const same = piece.normalize('NFKC').toLowerCase().replaceAll('ς', 'σ')
  return ACCENTED.test(same) ? same.normalize('NFD').replaceAll(/\p{M}/gu, '') : same
}

/** What a UTF-16 unit is; `special` ones depend on those next to them, or are several atoms. */
const UNIT = { unknown: 0, none: 1, letter: 2, digit: 3, dense: 4, special: 5 } as const

/** What each unit is, and how it is compared, as far as it was seen. */
const unitKinds = new Uint8Array(0x10000)
const unitFolded: string[] = []

const SPECIAL = new RegExp(
  `^(?:${IGNORED}|${EMOJI}|[\\uD800-\\uDFFF\\u1100-\\u11FF\\uA960-\\uA97C\\uD7B0-\\uD7CB\\uFF9E\\uFF9F])$`,
  'u',
)
const IS_PIECE = new RegExp(`^(?:${PIECE.source})$`, 'u')

function unitKind(code: number): number {
  if (unitKinds[code] === UNIT.unknown) unitKinds[code] = readUnit(code)
  return unitKinds[code]!
}

function readUnit(code: number): number {
  const unit = String.fromCharCode(code)
  if (SPECIAL.test(unit)) return UNIT.special
  if (!IS_PIECE.test(unit)) return UNIT.none
  const [part, ...more] = readParts(unit)
  if (!part || more.length > 0 || part[0] === 'emoji') return UNIT.special
  unitFolded[code] = part[1]
  return UNIT[part[0]]
}
