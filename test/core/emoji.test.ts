import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EMOJI_PATTERN, emojiKey, isEmoji } from '../../lib/core/emoji.ts'

const ACCEPTED: Record<string, string> = {
  'a thumb': '👍',
  'a skin tone': '👍🏽',
  'a coloured heart': '❤\uFE0F',
  'a heart': '❤',
  'a heart as text': '❤\uFE0E',
  'a sign': '©',
  'a watch': '⌚',
  'a flag of a country': '🇩🇪',
  'a flag of a part of a country': '🏴󠁧󠁢󠁥󠁮󠁧󠁿',
  'a flag of a sequence': '🏳️‍🌈',
  'a family': '👨‍👩‍👧‍👦',
  'a couple with skin tones': '👩🏻‍❤️‍💋‍👨🏼',
  'a family of five': ['👨', '👩', '👧', '👦', '👶'].join('\u200D'),
  'a heart on fire': '❤️‍🔥',
  'a heart on fire without the selector': '❤\u200D🔥',
  'a skin tone alone': '🏽',
  'a person with a skin tone and a beard': '🧔🏿‍♂️',
  'two people with skin tones who hold hands': '👩🏾‍🤝‍👨🏻',
  'an emoji of Unicode 16': '🫩',
  'a star': '⭐',
  'a flag with a selector': '🇩🇪\uFE0F',
  'a keycap': '1️⃣',
  'a keycap without the selector': '#\u20E3',
  'a name': ':tada:',
  'a name of signs': ':+1:',
  'the longest name': `:${'a'.repeat(32)}:`,
}

const REFUSED: Record<string, string> = {
  nothing: '',
  'a selector alone': '\uFE0F',
  'a joiner alone': '\u200D',
  'a keycap of nothing': '\u20E3',
  'a letter': 'a',
  'a digit': '1',
  'a letter with marks': 'a\u0301',
  'two of them': '👍👍',
  'two flags': '🇩🇪🇫🇷',
  'a letter of a flag': '🇩',
  'a letter of a flag with a selector': '🇩\uFE0F',
  'a flag and a letter of another': '🇩🇪🇫',
  'a flag before a picture of the same text': '🇩🇪👍',
  'one with a letter': '👍a',
  'one after a space': ' 👍',
  'one before a line break': '👍\n',
  'half of one': '\uD83D',
  'one with a NUL': '👍\0',
  'capital letters in a name': ':Upper:',
  'an empty name': '::',
  'a name that is too long': `:${'a'.repeat(33)}:`,
  'a name without an end': ':tada',
  '72 bytes in one grapheme': Array(11).fill('👨').join('\u200D'),
  'one with a joiner behind it': '👍\u200D',
  'one with a joiner and a selector behind it': '👍\u200D\uFE0F',
  'one with two joiners': '👨\u200D\u200D👩',
  'one with a non-joiner': '👍\u200C',
  'one with an accent': '👍\u0301',
  'one with a selector of ideographs': '👍\u{E0100}',
  'one with three selectors': '❤\uFE0F\uFE0F\uFE0F',
  'one with tags': '👍\u{E0067}\u{E007F}',
  'a flag of tags without an end': '🏴\u{E0067}',
  'a very long text': '👍'.repeat(100_000),
}

describe('an emoji', () => {
  it.each(Object.entries(ACCEPTED))('may be %s', (_, text) => expect(isEmoji(text)).toBe(true))

  it.each(Object.entries(REFUSED))('is not %s', (_, text) => expect(isEmoji(text)).toBe(false))

  it('has 64 bytes at most', () => expect(isEmoji(`${Array(9).fill('👨').join('\u200D')}\uFE0F`)).toBe(true))

  it('is every emoji of Unicode, and one grapheme', () => {
    // A literal with this flag needs a later target of TypeScript.
    const flags = 'v'
    const isListed = new RegExp('^\\p{RGI_Emoji}$', flags)
    const parts = [...'👍❤👨👩🏳🏴⚧♂🌈🔥🏽🏿🇩🇪1#*', '\uFE0F', '\u200D', '\u20E3', '\u{E0067}', '\u{E0062}', '\u{E007F}']
    const texts = fc.array(fc.constantFrom(...parts), { minLength: 1, maxLength: 8 }).map((each) => each.join(''))
    const graphemes = new Intl.Segmenter('en')
    fc.assert(
      fc.property(texts, (text) => {
        if (isListed.test(text)) expect([text, isEmoji(text)]).toEqual([text, true])
        if (isEmoji(text)) expect([...graphemes.segment(text)].map(({ segment }) => segment)).toEqual([text])
      }),
      { numRuns: 5_000 },
    )
    // The first look is quick; the list itself is thousands of alternatives.
    for (let code = 0; code < 0x1_fa_ff; code++)
      for (const text of [String.fromCodePoint(code), `${String.fromCodePoint(code)}\uFE0F`])
        if (/^\p{Emoji}/u.test(text) && isListed.test(text) && !isEmoji(text)) expect(text).toBe('')
  })

  it('is described by the pattern of the OpenAPI document, whatever it consists of', () => {
    const patterns = [new RegExp(EMOJI_PATTERN, 'u'), new RegExp(EMOJI_PATTERN)]
    const isDescribed = (text: string) => patterns.every((each) => each.test(text))
    for (const [what, text] of Object.entries(ACCEPTED)) expect(isDescribed(text), what).toBe(true)
    const refused = Object.entries(REFUSED).filter(([, text]) => !patterns.some((each) => each.test(text)))
    expect(refused.map(([what]) => what)).toEqual([
      ...['nothing', 'a letter', 'a digit', 'a letter with marks', 'one with a letter', 'one after a space'],
      ...['one before a line break', 'one with a NUL', 'capital letters in a name', 'an empty name'],
      ...['a name that is too long', 'a name without an end', 'one with a non-joiner', 'one with an accent'],
      'a very long text',
    ])
    const signs = [
      ...'👍❤©🇩🇪🏴🏽♂🔥',
      '\uFE0F',
      '\uFE0E',
      '\u200D',
      '\u20E3',
      '\u0301',
      '\u0903',
      '\u{E0067}',
      '\u{E007F}',
    ]
    const texts = fc.array(fc.constantFrom(...signs), { maxLength: 12 }).map((each) => each.join(''))
    fc.assert(
      fc.property(texts, (text) => !isEmoji(text) || isDescribed(text)),
      { numRuns: 5_000 },
    )
    for (let code = 0; code < 0xe_02_00; code++) {
      const text = String.fromCodePoint(code)
      if (isEmoji(text) && !isDescribed(text)) expect(text).toBe('')
    }
  })

  it('is the same with and without U+FE0F or U+FE0E, and differs by its skin tone', () => {
    expect(emojiKey('❤\uFE0F')).toBe(emojiKey('❤'))
    expect(emojiKey('1\uFE0F\u20E3')).toBe(emojiKey('1\u20E3'))
    expect(emojiKey('👍🏽')).not.toBe(emojiKey('👍'))
    expect(emojiKey('❤\uFE0E')).toBe(emojiKey('❤'))
  })
})
