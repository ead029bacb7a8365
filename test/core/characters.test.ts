import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isFileName, isLabel, isTitle, isUsername, isVisible, PATTERNS } from '../../lib/core/characters.ts'

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

it.each([
  ['visible', isVisible],
  ['username', isUsername],
  ['label', isLabel],
  ['title', isTitle],
  ['file_name', isFileName],
] as const)('the pattern %s of the OpenAPI document refuses no text that is accepted', (name, isAccepted) => {
  const patterns = [new RegExp(PATTERNS[name], 'u'), new RegExp(PATTERNS[name])]
  // Their NUL is refused by another check. The patterns, which take nearly every text, are looked at first: that is quicker.
  const isMissed = (text: string) =>
    !patterns.every((each) => each.test(text)) && !text.includes('\0') && isAccepted(text)
  const missed: string[] = []
  for (let code = 1; code < 0x10_ff_ff; code++) {
    if (code === 0xd8_00) code = 0xe0_00
    const character = String.fromCodePoint(code)
    missed.push(...[character, `x${character}`, `${character}x${character}y`].filter(isMissed))
  }
  const signs = fc.constantFrom(...' a.é1😀❤', '\u00A0', '\u3000', '\uFE0F', '\u20E3', '\u200C', '\u200D', '\u{E0067}')
  expect(missed).toEqual([])
  fc.assert(
    fc.property(fc.array(signs, { maxLength: 6 }), (each) => !isMissed(each.join(''))),
    { numRuns: 5_000 },
  )
})
