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
  'one with a letter': '👍a',
  'one after a space': ' 👍',
  'one before a line break': '👍\n',
  'half of one': '\uD83D',
  'one with a NUL': '👍\0',
  'capital letters in a name': ':Upper:',
  'an empty name': '::',
  'a name that is too long': `:${'a'.repeat(33)}:`,
  'a name without an end': ':tada',
  '65 bytes': `👍${'\u0301'.repeat(30)}!`,
  '66 bytes in one grapheme': `👍${'\u0301'.repeat(31)}`,
  'a very long text': '👍'.repeat(100_000),
}

describe('an emoji', () => {
  it.each(Object.entries(ACCEPTED))('may be %s', (_, text) => expect(isEmoji(text)).toBe(true))

  it.each(Object.entries(REFUSED))('is not %s', (_, text) => {
    expect(isEmoji(text)).toBe(false)
    expect(new RegExp(EMOJI_PATTERN, 'u').test(text)).toBe(false)
  })

  it('has 64 bytes at most', () => expect(isEmoji(`👍${'\u0301'.repeat(30)}`)).toBe(true))

  it('is described by the pattern of the OpenAPI document', () => {
    const described = Object.entries(ACCEPTED).filter(([, text]) => new RegExp(EMOJI_PATTERN, 'u').test(text))
    expect(Object.keys(ACCEPTED).length - described.length).toBe(1)
  })

  it('is the same with and without U+FE0F, and differs by its skin tone', () => {
    expect(emojiKey('❤\uFE0F')).toBe(emojiKey('❤'))
    expect(emojiKey('1\uFE0F\u20E3')).toBe(emojiKey('1\u20E3'))
    expect(emojiKey('👍🏽')).not.toBe(emojiKey('👍'))
    expect(emojiKey('❤\uFE0E')).not.toBe(emojiKey('❤'))
  })
})
