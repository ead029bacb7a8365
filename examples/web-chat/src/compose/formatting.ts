import { type Edit, replaceIn } from './edit.ts'

/** What formatting puts around words, or before lines. */
export type Format = 'bold' | 'italic' | 'strike' | 'code' | 'list' | 'quote'

const MARKS = { bold: '**', italic: '_', strike: '~~', code: '`' } as const
const STARTS = { list: '- ', quote: '> ' } as const

/** Formats what is selected in a field, or takes the format from it. */
export function format(field: HTMLTextAreaElement, kind: Format): void {
  const { value, selectionStart: start, selectionEnd: end } = field
  const isOfLines = kind === 'list' || kind === 'quote'
  const edit = isOfLines ? withStarts(value, start, end, STARTS[kind]) : withMarks(value, start, end, MARKS[kind])
  replaceIn(field, edit)
}

/** Puts a mark around a selection; one that is around it already, or at its ends, goes. */
export function withMarks(text: string, start: number, end: number, mark: string): Edit {
  const inner = text.slice(start, end)
  const { length } = mark
  if (text.slice(start - length, start) === mark && text.slice(end, end + length) === mark)
    return { from: start - length, to: end + length, text: inner, start: start - length, end: end - length }
  if (inner.length >= 2 * length && inner.startsWith(mark) && inner.endsWith(mark))
    return { from: start, to: end, text: inner.slice(length, -length), start, end: end - 2 * length }
  return { from: start, to: end, text: mark + inner + mark, start: start + length, end: end + length }
}

/** Begins each line of a selection with a sign; where all have it, it goes. */
export function withStarts(text: string, start: number, end: number, sign: string): Edit {
  const from = text.lastIndexOf('\n', start - 1) + 1
  const lines = text.slice(from, end).split('\n')
  const haveAll = lines.every((line) => line.startsWith(sign))
  const next = lines.map((line) => (haveAll ? line.slice(sign.length) : sign + line)).join('\n')
  const caret = from + next.length
  return { from, to: end, text: next, start: start === end ? caret : from, end: caret }
}
