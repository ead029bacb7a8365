import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { hasLink } from '../../lib/chat/search/rules.ts'
import { indexWords } from '../../lib/chat/search/rules-indexed.ts'
import { atomParts, splitAtoms } from '../../lib/core/words.ts'
import { times } from '../support/service.ts'
import { finish } from '../support/steps.ts'

const texts = (text: string) => splitAtoms(text).map((atom) => atom.text)
const words = (text: string) => {
  const { inOrder, others } = finish(indexWords(text))
  return [...inOrder, ...others]
}

describe('the analysis of a text', () => {
  it.each([
    ['case and accents', 'Ärger ÉTÉ naïve façade', ['arger', 'ete', 'naive', 'facade']],
    ['decomposed accents', 'e\u0301te\u0301 A\u0308', ['ete', 'a']],
    ['German', 'Straße GRÖẞE STRASSE', ['strasse', 'grosse', 'strasse']],
    ['Russian', 'Ёлка мой', ['елка', 'мои']],
    ['Greek with final sigma, and an iota below', 'ΟΔΟΣ οδός ᾳ', ['οδοσ', 'οδοσ', 'α']],
    ['Turkish', 'İstanbul ışık', ['istanbul', 'ısık']],
    ['Arabic with tatweel', 'كتـــاب', ['كتاب']],
    ['Persian with a joiner', 'می\u200Cخواهم', ['میخواهم']],
    ['Arabic with marks', 'مُحَمَّد محمد أَحْمَد احمد', ['محمد', 'محمد', 'احمد', 'احمد']],
    ['Hebrew', 'שָׁלוֹם שלום', ['שלום', 'שלום']],
    ['Hindi', 'हिन्दी में', ['हिन्दी', 'में']],
    ['wide letters, ligatures', 'Ｈｅｌｌｏ ﬁne', ['hello', 'fine']],
    ['a soft hyphen', 'Donau\u00ADdampfer', ['donaudampfer']],
    ['letters and digits', 'qwen3.6', ['qwen', '3', '6']],
    ['fractions, circled digits', '½ ①', ['1', '2', '1']],
    ['marks and signs', "don't a_b C++ §5", ['don', 't', 'a', 'b', 'c', '5']],
    ['emoji', 'ok👍🏽 👨‍👩‍👧 ❤️ 🇩🇪 1️⃣', ['ok', '👍🏽', '👨‍👩‍👧', '❤', '🇩🇪', '1⃣']],
    ['nothing', ' … -- \u200B', []],
  ])('takes apart %s', (_, text, expected) => {
    expect(texts(text)).toEqual(expected)
  })

  it.each([
    ['Chinese', '我喜欢北京', ['我喜', '喜欢', '欢北', '北京', '京', '我', '喜', '欢', '北']],
    ['one character', '猫', ['猫']],
    ['a mark between', '你好。世界', ['你好', '好', '世界', '界', '你', '世']],
    ['Japanese', 'データを', ['デー', 'ータ', 'タを', 'を', 'デ', 'ー', 'タ']],
    ['half-width Japanese', 'ｶﾞｽ', ['ガス', 'ス', 'ガ']],
    ['Korean', '한국어', ['한국', '국어', '어', '한', '국']],
    ['decomposed Korean', '한국'.normalize('NFD'), ['한국', '국', '한']],
    ['Thai', 'กินข้าว', ['กิน', 'นข้', 'ข้า', 'าว', 'ว', 'กิ', 'น', 'ข้', 'า']],
    ['Thai with the vowel am', 'ทำapp', ['ท\u0E4Dา', '\u0E4Dา', 'app', 'ท']],
    ['among Latin', '用TypeScript写', ['用', 'typescript', '写']],
    ['squares', '㈱ ㈱a ㏠', ['株', '株', 'a', '1', '日']],
  ])('indexes pairs of %s', (_, text, expected) => {
    expect(words(text)).toEqual(expected)
  })

  it('knows where each atom is in the text as given', () => {
    const text = 'Ｅ\u0301t\u00ADé 北京 👍🏽!'
    expect(splitAtoms(text).map(({ start, end }) => text.slice(start, end))).toEqual([
      'Ｅ\u0301t\u00ADé',
      '北',
      '京',
      '👍🏽',
    ])
    expect(splitAtoms('a-b 北京').map(({ isJoined }) => isJoined)).toEqual([false, false, false, true])
  })

  it('finds any two neighbours, and any character, of a dense run', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...'東京都港区'), { minLength: 1, maxLength: 12 }), (characters) => {
        const found = words(characters.join(''))
        for (const [n, each] of characters.entries()) {
          expect(found).toContain(each)
          if (n > 0) expect(found).toContain(characters[n - 1]! + each)
        }
      }),
    )
  })

  it('is the same for a text, whatever is written behind it', () => {
    const some = fc.constantFrom(
      ...'aZ1 -éЁй北京ーｶガ한ทن½①㈱§©❤#*ß\uD800ſǅΣς',
      '\u0301',
      '\u200D',
      '\uFE0F',
      '👍',
      'ff',
    )
    fc.assert(
      fc.property(fc.array(fc.oneof(some, fc.string({ unit: 'binary', maxLength: 2 })), { maxLength: 20 }), (all) => {
        const text = `${all.join('')} `
        // The last one is not read by itself, so that the whole text is read in the other way.
        for (const behind of ['👍', 'e\u0301']) expect(splitAtoms(text + behind).slice(0, -1)).toEqual(splitAtoms(text))
      }),
      { numRuns: 1_000 },
    )
  })

  it('is the same for a text and its other case, form and width', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), (text) => {
        expect(texts(text.normalize('NFD'))).toEqual(texts(text.normalize('NFC')))
        for (const { start, end } of splitAtoms(text)) expect(end).toBeGreaterThan(start)
      }),
    )
  })

  it('has a bound on words, their number and their length together', () => {
    expect(texts('a'.repeat(200))).toEqual(['a'.repeat(64)])
    const long = `a${'𐌰'.repeat(40)}`
    expect(texts(long)).toEqual([long.slice(0, 63)])
    expect(texts(times(30, () => '👨').join('\u200D')).map(({ length }) => length)).toEqual([26, 26, 26, 8])
    const many = Array.from({ length: 12_000 }, (_, n) => `w${n.toString(36)}`.replaceAll(/\d/g, 'z')).join(' ')
    expect(new Set(words(`${many} ${Array.from({ length: 12_000 }, (_, n) => n).join(' ')}`)).size).toBe(10_000)
    const cut = words('one two '.repeat(2_000).concat('three one two three'))
    expect(cut).toEqual([...times(2_000, (n) => (n % 2 ? 'two' : 'one')), 'three'])
    const numbers = Array.from({ length: 9000 }, (_, n) => String(n).padStart(64, '1')).join(' ')
    expect([...new Set(words(numbers))].join('').length).toBeLessThanOrEqual(250_000)
  })

  it('is the same for a letter and its other cases', () => {
    const differing: string[] = []
    for (let code = 0; code < 0x20000; code++) {
      const letter = String.fromCodePoint(code)
      // The upper case of the dotless i is that of another letter, and that of an iota below a letter is a letter.
      if ((code >= 0xd800 && code < 0xe000) || letter === 'ı' || letter.normalize('NFD').includes('\u0345')) continue
      for (const other of [letter.toUpperCase(), letter.toLowerCase()])
        if (other !== letter && texts(other).join() !== texts(letter).join()) differing.push(letter)
    }
    // Of these, one is an emoji.
    expect(differing).toEqual(['Ⓜ', 'ⓜ'])
  })

  it('is the same in parts of any size as at once', () => {
    const some = fc.constantFrom(
      ...'aZ1 é北京ーｶガ한½㈱❤ß\uD800',
      '\u0301',
      '\u0301'.repeat(40),
      '\u200D',
      '👍🏽',
      '🇩🇪',
      'ff12',
    )
    fc.assert(
      fc.property(fc.array(some, { maxLength: 30 }), fc.integer({ min: 1, max: 20 }), (all, units) => {
        const text = all.join('')
        expect([...atomParts(text, units)].flat()).toEqual(splitAtoms(text))
      }),
      { numRuns: 500 },
    )
  })

  it('lets others have a turn after a part of a long text', () => {
    for (const unit of ['a', 'a ', 'a\u0301', '京', '👨\u200D', ' ', '\uD800', '\u0301', 'é١']) {
      const parts = [...atomParts(unit.repeat(20_000))]
      expect(parts.length).toBeGreaterThanOrEqual((unit.length * 20_000) / 1_100)
      for (const part of parts) expect(part.length).toBeLessThanOrEqual(1_100)
    }
    let steps = 0
    for (const _ of indexWords('a b '.repeat(100_000))) steps++
    expect(steps).toBeGreaterThan(300)
  })

  it('finds a link anywhere in a long text, in steps', () => {
    for (let before = 65_525; before < 65_550; before++) {
      const link = { content: `${' '.repeat(before)}https://x`, prompt: null }
      expect(finish(hasLink(link))).toBe(true)
      expect(finish(hasLink({ ...link, content: link.content.slice(0, -1) }))).toBe(false)
    }
    expect([...hasLink({ content: '', prompt: ' '.repeat(300_000) })]).toHaveLength(5)
  })

  it('reads no piece of more than 64 units, whatever the text', () => {
    const lengths: number[] = []
    const { normalize } = String.prototype
    vi.spyOn(String.prototype, 'normalize').mockImplementation(function (this: string, form?: string) {
      lengths.push(this.length)
      return normalize.call(this, form)
    })
    onTestFinished(() => void vi.restoreAllMocks())
    const runs = [
      '\u0315\u0327',
      '\u0345\u0301',
      '👨\u200D',
      '👍\uFE0F',
      '\u1161\u11a8',
      '\u{1D165}',
      '\uFF9E',
      'é',
      '\u200D',
      '🇩',
      '𐌰',
    ]
    for (const base of ['a', 'م', 'क', '京', 'ท', '\u1100', '1', '#', '👨', '', '𐌰'])
      for (const run of runs) splitAtoms(base + run.repeat(2_000))
    expect(lengths.length).toBeGreaterThan(500)
    expect(Math.max(...lengths)).toBeLessThanOrEqual(64)
  })
})
