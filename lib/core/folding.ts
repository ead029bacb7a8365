/** What a part of a text is: a letter or a digit of a word, a character of a dense script, or an emoji. */
export const KIND = { letter: 2, digit: 3, dense: 4, emoji: 5 } as const
export type Kind = (typeof KIND)[keyof typeof KIND]

/** What a UTF-16 unit is; a `special` one depends on those next to it, or is several atoms. */
export const UNIT = { unknown: 0, none: 1, letter: 2, digit: 3, dense: 4, emoji: 5, special: 6 } as const

/** Up to this many marks are read with one character: Unicode Standard Annex 15, section 13 (Stream-Safe Text). */
const MARKS = '[\\p{M}\\uFF9E\\uFF9F]{0,30}'

const PICTURE = '\\p{Extended_Pictographic}[\\uFE0F\\p{Emoji_Modifier}]{0,2}'
const EMOJI = `\\p{RI}{2}|[0-9#*]\\uFE0F?\\u20E3|(?!\\p{ASCII})${PICTURE}(?:\\u200D${PICTURE}){0,8}`

/** The conjoining letters of a Korean syllable. */
const SYLLABLE =
  '[\\u1100-\\u115F\\uA960-\\uA97C][\\u1160-\\u11A7\\uD7B0-\\uD7C6]{0,30}[\\u11A8-\\u11FF\\uD7CB-\\uD7FB]{0,30}'

/** Invisible characters within words: soft hyphens, joiners, directions; marks of no letter; and the Arabic tatweel. */
const IGNORED = '[\\p{M}\\u00AD\\u0640\\u200C-\\u200F\\u2060\\uFEFF]{1,30}'

/**
 * ASCII letters and digits, of which most texts are; an emoji; or a character with its marks. No piece is longer than 64
 * UTF-16 units: the normalisation of a run of marks takes the square of its length.
 */
const PIECE = new RegExp(
  `[A-Za-z]{1,64}(?!\\p{M})|[0-9]{1,64}(?![\\p{M}\\uFE0F\\u20E3])|${EMOJI}|${IGNORED}|${SYLLABLE}|[\\p{L}\\p{N}\\p{So}]${MARKS}`,
  'uy',
)
const ASCII_LETTERS = /^[A-Za-z]+$/
const IS_EMOJI = new RegExp(`^(?:${EMOJI})$`, 'u')
const IS_IGNORED = new RegExp(`^${IGNORED}$`, 'u')

/** Letters whose marks are dropped: their words are also written without. */
const LOSES_MARKS = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Arabic}\p{Script=Hebrew}]/u

/** The pattern of a letter or a number of a script without spaces between words, for regular expressions with the flag `u`. */
export const DENSE =
  '(?=[\\p{L}\\p{N}])[\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Hang}\\p{scx=Thai}\\p{scx=Lao}\\p{scx=Khmr}\\p{scx=Mymr}]'

/** Parts of what was one character, such as `½` or `㈱`; the vowel `am` of Thai and Lao becomes a mark and a letter. */
const PART = new RegExp(
  `(?<dense>\\p{M}*${DENSE}\\p{M}*)|(?<digit>\\p{N}+)|(?<letter>(?:\\p{M}+(?!\\p{M}|${DENSE})|(?!${DENSE})\\p{L})+)`,
  'gu',
)

/** A part of a piece as it is compared. */
export type Part = readonly [Kind, string]

/** The piece of a text that begins at an index: characters that can only be read together. `undefined` if none does. */
export function pieceAt(text: string, index: number): string | undefined {
  PIECE.lastIndex = index
  return PIECE.exec(text)?.[0]
}

/** The parts of the characters that were seen last: there are about as many in use. */
const seen = new Map<string, Part[]>()
const MAX_SEEN = 10_000

/** With more marks than most letters have, a character is not among them. */
const MAX_SEEN_LENGTH = 4

/** The parts of a piece as they are compared: none of invisible characters, several of one such as `½` or `㈱`. */
export function partsOf(piece: string): Part[] {
  if (ASCII_LETTERS.test(piece)) return [[KIND.letter, piece.toLowerCase()]]
  const known = seen.get(piece)
  if (known) return known
  const parts = readParts(piece)
  if (seen.size === MAX_SEEN) seen.clear()
  if (piece.length <= MAX_SEEN_LENGTH) seen.set(piece, parts)
  return parts
}

function readParts(piece: string): Part[] {
  if (IS_EMOJI.test(piece)) return [[KIND.emoji, piece.replaceAll('\uFE0F', '')]]
  if (IS_IGNORED.test(piece)) return []
  return [...fold(piece).matchAll(PART)].map(({ 0: part, groups }) => [
    groups!.dense ? KIND.dense : groups!.digit ? KIND.digit : KIND.letter,
    part,
  ])
}

/** Compatible characters are one (NFKC), cases are, and so are letters with and without marks in scripts that lose them. */
function fold(piece: string): string {
  const same = piece.normalize('NFKC')
  return foldCase(LOSES_MARKS.test(same) ? same.normalize('NFD').replaceAll(/\p{M}/gu, '') : same)
}

/** Full case folding (Unicode Standard, section 3.13): `ß` is `ss`. The dotless `ı` stays, of which `I` is the upper case, too. */
function foldCase(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^ı]+/g, (some) => some.toUpperCase().toLowerCase())
    .replaceAll('ς', 'σ')
}

/** What each unit is, and how it is compared, as far as it was seen. */
const unitKinds = new Uint8Array(0x10000)
const unitFolded: string[] = []

const SPECIAL = new RegExp(
  `^(?:${IGNORED}|${EMOJI}|[\\uD800-\\uDFFF\\u1100-\\u11FF\\uA960-\\uA97C\\uD7B0-\\uD7CB\\uFF9E\\uFF9F])$`,
  'u',
)

/** What a unit of a text is: a value of {@link UNIT}, which is never `unknown`. */
export function unitKind(code: number): number {
  if (unitKinds[code] === UNIT.unknown) unitKinds[code] = readUnit(code)
  return unitKinds[code]!
}

/** How a unit is compared that is a letter, a digit or dense. */
export function foldedUnit(code: number): string {
  return unitFolded[code]!
}

function readUnit(code: number): number {
  const unit = String.fromCharCode(code)
  if (SPECIAL.test(unit)) return UNIT.special
  if (pieceAt(unit, 0) === undefined) return UNIT.none
  const [part, ...more] = readParts(unit)
  if (!part || more.length > 0 || part[0] === KIND.emoji) return UNIT.special
  unitFolded[code] = part[1]
  return part[0]
}
