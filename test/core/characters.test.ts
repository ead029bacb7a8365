import { expect, it } from 'vitest'
import { isFileName, isTitle } from '../../lib/core/characters.ts'

it.each([
  ['words', 'Engines of steam'],
  ['outer spaces', ' x\u3000'],
  ['a narrow space', 'Screenshot 3.04\u202FPM.png'],
  ['an emoji', '❤️ Team'],
  ['an emoji of several', '👨‍👩‍👧.png'],
  ['an emoji of a digit', '1️⃣ first'],
  ['a flag of tags', '🏴󠁧󠁢󠁥󠁮󠁧󠁿'],
  ['a joiner between Persian letters', 'می\u200Cخواهم'],
  ['a decomposed letter', 'e\u0301te\u0301'],
])('a title, and the name of a file, can have %s', (_, text) => {
  expect([isTitle(text), isFileName(text)]).toEqual([true, true])
})

it.each([
  ['a line break', 'a\nb'],
  ['a Unicode line break', 'a\u2028b'],
  ['a control character', 'a\u001Bb'],
  ['an overridden direction', 'invoice\u202Egpj.exe'],
  ['an isolated direction', '\u2066x\u2069'],
  ['a mark of direction', 'x\u200Fy'],
  ['an invisible space', 'a\u200Bb'],
  ['a byte order mark', '\uFEFFx'],
  ['a soft hyphen', 'a\u00ADb'],
  ['a joiner between ASCII letters', 'a\u200Db'],
  ['a variation selector alone', '\uFE0F'],
  ['a blank of braille', '\u2800'],
  ['a filler', '\u3164'],
])('no title, and no name of a file, has %s', (_, text) => {
  expect([isTitle(text), isFileName(text)]).toEqual([false, false])
})

it('a title may be empty, and a name of a file may not, nor be a path', () => {
  for (const text of ['', '  ', '.', '..', ' .. ', 'a/b', 'a\\b'])
    expect([text, isTitle(text), isFileName(text)]).toEqual([text, true, false])
  for (const text of ['...', '.a', 'a.']) expect(isFileName(text)).toBe(true)
})
