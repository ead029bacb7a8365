import { isStorable } from '../../core/schema.ts'
import { wholeLength } from '../../core/whole-text.ts'

/** The beginning of a text from outside, such that both databases store it unchanged. */
export function storableExcerpt(text: string, longest: number): string {
  const begin = text.slice(0, longest)
  const whole = begin.slice(0, wholeLength(begin))
  return isStorable(whole) ? whole : whole.replace(/\0/g, '').replace(LONE_SURROGATE, '\uFFFD')
}

const LONE_SURROGATE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g
