import { expect, it } from 'vitest'
import type { Edit } from '../../../examples/web-chat/src/compose/edit.ts'
import { withMarks, withStarts } from '../../../examples/web-chat/src/compose/formatting.ts'
import { nextItem } from '../../../examples/web-chat/src/compose/next-item.ts'

/** A text with what is selected between two bars; one bar is the caret. */
function parse(marked: string): [text: string, start: number, end: number] {
  const [before = '', inner = '', after] = marked.split('|')
  return after === undefined
    ? [before + inner, before.length, before.length]
    : [before + inner + after, before.length, before.length + inner.length]
}

function apply(text: string, { from, to, text: added, start, end }: Edit): string {
  const next = text.slice(0, from) + added + text.slice(to)
  return start === end
    ? `${next.slice(0, start)}|${next.slice(start)}`
    : `${next.slice(0, start)}|${next.slice(start, end)}|${next.slice(end)}`
}

it.each([
  ['It |runs| now', '**', 'It **|runs|** now'],
  ['It **|runs|** now', '**', 'It |runs| now'],
  ['It |**runs**| now', '**', 'It |runs| now'],
  ['Now |', '`', 'Now `|`'],
  ['Now `|`', '`', 'Now |'],
  ['|_|', '_', '_|_|_'],
])('puts marks around what is selected in %j, or takes them away', (before, mark, after) => {
  const [text, start, end] = parse(before)
  expect(apply(text, withMarks(text, start, end, mark))).toBe(after)
})

it.each([
  ['one\nt|wo\nthree| ', '- ', 'one\n|- two\n- three| '],
  ['|- two\n- three|', '- ', '|two\nthree|'],
  ['on|e', '> ', '> on|e'],
])('begins the lines that are selected in %j with a sign, or takes it away', (before, sign, after) => {
  const [text, start, end] = parse(before)
  expect(apply(text, withStarts(text, start, end, sign))).toBe(after)
})

it.each([
  ['- one|', '- one\n- |'],
  ['  * [x] one| two', '  * [x] one\n  * [ ] | two'],
  ['9. nine|', '9. nine\n10. |'],
  ['- one\n- |', '- one\n|'],
  ['1) |', '|'],
  ['no list|', undefined],
  ['1.5|', undefined],
  ['-one|', undefined],
])('goes on with the list of %j', (before, after) => {
  const [text, caret] = parse(before)
  const edit = nextItem(text, caret)
  expect(edit && apply(text, edit)).toBe(after)
})
