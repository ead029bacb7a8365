import { type Edit, replaceIn } from './edit.ts'

/** The beginning of a line of a list: its indent, and its sign or number. */
const ITEM = /^([ \t]*)(?:([-*+])|(\d{1,9})([.)]))( +(?:\[[ x]\] +)?)/

/** Begins the next line of the list in which the caret of a field is. */
export function beginItem(field: HTMLTextAreaElement): void {
  const edit = nextItem(field.value, field.selectionStart)
  if (edit) replaceIn(field, edit)
}

/** The next line of the list in which the caret is. An item without a text ends the list. @returns `undefined` outside of one */
export function nextItem(text: string, caret: number): Edit | undefined {
  const from = text.lastIndexOf('\n', caret - 1) + 1
  const line = text.slice(from, caret)
  const match = ITEM.exec(line)
  if (!match) return undefined
  const [all, indent = '', sign, number, dot, space = ''] = match
  if (all.length === line.length) return { from, to: caret, text: '', start: from, end: from }
  const item = `\n${indent}${sign ?? Number(number) + 1 + dot!}${space.replace('x', ' ')}`
  return { from: caret, to: caret, text: item, start: caret + item.length, end: caret + item.length }
}
