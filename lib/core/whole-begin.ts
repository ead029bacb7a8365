import { wholeLength } from './whole-text.ts'

/** The first `length` UTF-16 units of a text, without half a surrogate pair at their end. */
export function wholeBegin(text: string, length: number | undefined): string {
  const begin = text.slice(0, length)
  return begin.length < text.length ? begin.slice(0, wholeLength(begin)) : begin
}

/** The text with U+FFFD for each half of a surrogate pair. */
export function wellFormed(text: string): string {
  return text.replace(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, '\uFFFD')
}
