import { expect, it } from 'vitest'
import { csvLine } from '../../lib/core/csv.ts'

it.each([
  ['texts and numbers', ['ada', 7, 0.5], 'ada,7,0.5'],
  ['what ends a cell', ['a,b', 'say "hi"', 'two\nlines', 'back\r'], '"a,b","say ""hi""","two\nlines","back\r"'],
  ['what is like a formula', ['=1+1', '+1', '-1', '@SUM(A1)'], "'=1+1,'+1,'-1,'@SUM(A1)"],
  ['a formula that is hidden', [' =1', '\t=1', '\u200b=1', '＝1', '"=1'], '\' =1,\'\t=1,\'\u200b=1,\'＝1,"""=1"'],
  ['a formula with cells of its own', ['=HYPERLINK("x","y")'], '"\'=HYPERLINK(""x"",""y"")"'],
  ['days, negative numbers and nothing', ['2026-01-31', -3, ''], '2026-01-31,-3,'],
])('a line of CSV has %s', (_, cells, line) => {
  expect(csvLine(cells)).toBe(`${line}\r\n`)
})
