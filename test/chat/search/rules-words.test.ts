import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { indexWords } from '../../../lib/chat/search/rules-indexed.ts'
import { atomsOf } from '../../../lib/chat/search/rules-words.ts'
import { times } from '../../support/service.ts'

const texts = (text: string) => atomsOf(text).map((atom) => atom.text)
const words = (text: string) => {
  const { inOrder, others } = indexWords(atomsOf(text))
  return [...inOrder, ...others]
}

describe('the analysis of a text', () => {
  it.each([
    ['case and accents', 'Ärger ÉTÉ naïve façade', ['arger', 'ete', 'naive', 'facade']],
    ['decomposed accents', 'e\u0301te\u0301 A\u0308', ['ete', 'a']],
    ['German', 'Straße GRÖẞE', ['straße', 'große']],
    ['Russian', 'Ёлка мой', ['елка', 'мои']],
    ['Greek with final sigma', 'ΟΔΟΣ οδός', ['οδοσ', 'οδοσ']],
    ['Turkish', 'İstanbul ışık', ['istanbul', 'ısık']],
    ['Arabic with tatweel', 'كتـــاب', ['كتاب']],
    ['Persian with a joiner', 'می\u200Cخواهم', ['میخواهم']],
    ['Hebrew', 'שָׁלוֹם', ['שָׁלוֹם'.normalize('NFKC')]],
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
    expect(atomsOf(text).map(({ start, end }) => text.slice(start, end))).toEqual([
      'Ｅ\u0301t\u00ADé',
      '北',
      '京',
      '👍🏽',
    ])
    expect(atomsOf('a-b 北京').map(({ isJoined }) => isJoined)).toEqual([false, false, false, true])
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
        for (const behind of ['👍', 'e\u0301']) expect(atomsOf(text + behind).slice(0, -1)).toEqual(atomsOf(text))
      }),
      { numRuns: 1_000 },
    )
  })

  it('is the same for a text and its other case, form and width', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), (text) => {
        expect(texts(text.normalize('NFD'))).toEqual(texts(text.normalize('NFC')))
        for (const { start, end } of atomsOf(text)) expect(end).toBeGreaterThan(start)
      }),
    )
  })

  it('has a bound on words, their number and their length together', () => {
    expect(texts('a'.repeat(200))).toEqual(['a'.repeat(64)])
    for (const long of [`a${'𐌰'.repeat(40)}`, times(30, () => '👨').join('\u200D')])
      expect(texts(long)).toEqual([long.slice(0, 63)])
    const many = Array.from({ length: 12_000 }, (_, n) => `w${n.toString(36)}`.replaceAll(/\d/g, 'z')).join(' ')
    expect(new Set(words(`${many} ${Array.from({ length: 12_000 }, (_, n) => n).join(' ')}`)).size).toBe(10_000)
    const cut = words('one two '.repeat(2_000).concat('three one two three'))
    expect(cut).toEqual([...times(2_000, (n) => (n % 2 ? 'two' : 'one')), 'three'])
    const long = Array.from({ length: 9000 }, (_, n) => String(n).padStart(64, '1')).join(' ')
    expect([...new Set(words(long))].join('').length).toBeLessThanOrEqual(250_000)
  })

  it('takes time in proportion to the text', () => {
    for (const text of ['a\u0301', '👨‍👩‍👧‍', '北', '\u00AD', '\u0301', '1\uFE0F', '\u1100\u1160']) {
      expect(atomsOf(text.repeat(100_000)).length).toBeLessThanOrEqual(200_000)
    }
  })
})
