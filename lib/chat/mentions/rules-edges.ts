import { DENSE } from '../../core/folding.ts'

/** A letter of a dense script is a word of its own; a digit is part of a number, in every script. */
const DENSE_LETTER = `(?!\\p{Nd})${DENSE}`
const LETTER = `(?!${DENSE_LETTER})[\\p{L}\\p{N}]`

const IS_MARK = /^\p{M}/u
const IS_DENSE = new RegExp(`^${DENSE_LETTER}`, 'u')
const IS_IN_WORD = new RegExp(`^(?:[@./-]|${LETTER})`, 'u')

/** What is never the first of a syllable: a mark, the vowel `am` of Thai and Lao, and later letters of a Korean one. */
const WITHIN_SYLLABLE = '\\p{M}|[\\u0E33\\u0EB3\\u1160-\\u11FF\\uD7B0-\\uD7FF\\uFF9E\\uFF9F\\uFFC2-\\uFFDC]'

const ASCII_WORD = /^[A-Za-z0-9]/
const JOINS = '-.@_'

/** A word continues with a letter or a digit, also behind some `-`, `.`, `@` or `_` inside of it. */
const CONTINUATION = new RegExp(`${WITHIN_SYLLABLE}|[-.@_]{0,64}${LETTER}`, 'uy')

/**
 * How a name begins at an `@`: behind a letter of a dense script it does, and the `@` may as well be inside of another name.
 * It does not inside of a word, an address or a path, and not behind a backslash. The `_` of Markdown before it do not count.
 */
export function beginningAt(text: string, index: number): 'word' | 'dense' | undefined {
  if (isEscaped(text, index)) return undefined
  let end = index
  while (text[end - 1] === '_') end--
  let before = characterBefore(text, end)
  // A mark belongs to the letter before it.
  while (IS_MARK.test(before)) {
    end -= before.length
    before = characterBefore(text, end)
  }
  if (IS_IN_WORD.test(before)) return undefined
  return IS_DENSE.test(before) ? 'dense' : 'word'
}

/** Whether a word goes on at an index. A letter of a dense script is another word, and so is the next mention. */
export function continuesAt(text: string, index: number): boolean {
  const unit = text[index] ?? ' '
  // Most texts consist of these.
  if (unit < '\u0080' && !JOINS.includes(unit)) return ASCII_WORD.test(unit)
  if (unit === '@' && beginningAt(text, index)) return false
  CONTINUATION.lastIndex = index
  return CONTINUATION.test(text)
}

/** Whether the character at an index is a letter of a dense script. */
export function isDenseAt(text: string, index: number): boolean {
  return IS_DENSE.test(text.slice(index, index + 2))
}

function isEscaped(text: string, index: number): boolean {
  let start = index
  while (text[start - 1] === '\\') start--
  return (index - start) % 2 === 1
}

/** The character that ends before an index; empty at the beginning. */
function characterBefore(text: string, index: number): string {
  const isPair = /[\uD800-\uDBFF]/.test(text[index - 2] ?? '') && /[\uDC00-\uDFFF]/.test(text[index - 1]!)
  return text.slice(Math.max(0, index - (isPair ? 2 : 1)), index)
}
