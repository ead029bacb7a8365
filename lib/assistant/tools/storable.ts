import { wellFormed, wholeBegin } from '../../core/whole-begin.ts'

/** The beginning of a text from outside, such that both databases store it unchanged. */
export function storableExcerpt(text: string, longest: number): string {
  return wellFormed(wholeBegin(text, longest).replaceAll('\0', ''))
}
