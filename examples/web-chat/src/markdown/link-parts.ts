import { decodeText } from './entities.ts'

/** The longest label of a reference. CommonMark has the same limit. */
const MAX_LABEL = 999

/** How deep parentheses may nest in an address. */
const MAX_PARENTHESES = 32

const ESCAPABLE = '!"#$%&\'()*+,./:;<=>?@[\\]^_`{|}~-'
// No more is looked at than a label may have.
const LABEL = /\[((?:[^\\[\]]|\\.){0,999})\]/sy
const POINTED = /<((?:[^<>\n\\]|\\.)*)>/y
const TITLE = /"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|\(((?:[^()\\]|\\.)*)\)/sy

/** Something that stands in a text, and where it ends. */
export interface Found<Value> {
  value: Value
  end: number
}

export function isEscapable(letter: string | undefined): boolean {
  return letter !== undefined && letter !== '' && ESCAPABLE.includes(letter)
}

/** The label of a reference in the form in which labels are compared; `undefined` if it is empty or too long. */
export function toLabel(text: string): string | undefined {
  if (text.length > MAX_LABEL || text.trim() === '') return undefined
  return text.trim().replace(/\s+/g, ' ').toLowerCase().toUpperCase()
}

/** `[…]`, without brackets in it. */
export function labelAt(text: string, at: number): Found<string> | undefined {
  const match = matchAt(LABEL, text, at)
  return match && { value: match[1]!, end: at + match[0].length }
}

/** The address of a link, in angle brackets or without. */
export function destinationAt(text: string, at: number): Found<string> | undefined {
  if (text[at] === '<') {
    const match = matchAt(POINTED, text, at)
    return match && { value: decodeText(match[1]!), end: at + match[0].length }
  }
  let depth = 0
  let end = at
  for (; end < text.length && text[end]! > ' ' && text[end] !== '\u007f'; end++) {
    if (text[end] === '\\' && isEscapable(text[end + 1])) end++
    else if (text[end] === '(' && ++depth > MAX_PARENTHESES) return undefined
    else if (text[end] === ')' && --depth < 0) break
  }
  if (depth > 0 || (end === at && text[at] !== ')')) return undefined
  return { value: decodeText(text.slice(at, end)), end }
}

/** The title of a link: in quotes or parentheses. */
export function titleAt(text: string, at: number): Found<string> | undefined {
  const match = matchAt(TITLE, text, at)
  return match && { value: decodeText(match[1] ?? match[2] ?? match[3]!), end: at + match[0].length }
}

/** Behind spaces, and at most one end of a line among them. */
export function skipSpace(text: string, at: number): number {
  let end = at
  let hasNewLine = false
  for (; text[end] === ' ' || text[end] === '\t' || (text[end] === '\n' && !hasNewLine); end++)
    if (text[end] === '\n') hasNewLine = true
  return end
}

/** What a pattern, a sticky one, finds at this place. */
export function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at
  return pattern.exec(text) ?? undefined
}
