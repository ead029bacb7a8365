import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toExcerpt } from '../../../lib/chat/search/rules-excerpt.ts'
import { indexWords } from '../../../lib/chat/search/rules-indexed.ts'
import { findPlaces } from '../../../lib/chat/search/rules-places.ts'
import { indexTerms, type Phrase, parseQuery } from '../../../lib/chat/search/rules-query.ts'
import { isStorable } from '../../../lib/core/schema.ts'
import { finish } from '../../support/steps.ts'

const shown = (phrases: Phrase[]) =>
  phrases.map(({ atoms, isPrefix }) => atoms.map(({ text }) => text).join(' ') + (isPrefix ? '*' : ''))

describe('a query', () => {
  it.each([
    ['', [], []],
    ['Hello wörld', ['hello', 'world'], []],
    ['"two words" more', ['two words', 'more'], []],
    ['"never closed', ['never closed'], []],
    ['-no -"not this" yes', ['yes'], ['no', 'not this']],
    ['hel* "star*" * a*b', ['hel*', 'star', 'a b'], []],
    ['well-known a-b', ['well known', 'a b'], []],
    ['qwen3.6', ['qwen 3 6'], []],
    ['foo:bar http://x', ['foo', 'bar', 'http', 'x'], []],
    ['foo:"two words"', ['foo', 'two words'], []],
    ['-- - "" … *', [], []],
    ['北京* 北', ['北 京', '北'], []],
    ['AND OR NOT ( ) NEAR/2 + ^ ~', ['and', 'or', 'not', 'near 2'], []],
  ])('%s', (q, all, none) => {
    const query = parseQuery(q)
    expect(shown(query.all)).toEqual(all)
    expect(shown(query.none)).toEqual(none)
  })

  it('narrows', () => {
    expect(parseQuery('in:a from:@ada FROM:b thread:t before:2026-01-01 after:x has:file in: -in:z').filters).toEqual({
      in: ['a'],
      from: ['@ada', 'b'],
      thread: ['t'],
      before: ['2026-01-01'],
      after: ['x'],
      on: [],
      has: ['file'],
    })
  })

  it('takes a value in quotes', () => {
    const { filters: narrowing, all } = parseQuery('from:"Grace Hopper" IN:"x y on:2026-05-01')
    expect([narrowing.from, narrowing.in, all]).toEqual([['Grace Hopper'], ['x y on:2026-05-01'], []])
    expect(parseQuery('on:2026-05-01 on:"2026-05-02"').filters.on).toEqual(['2026-05-01', '2026-05-02'])
  })

  it('names the filters that it does not have, once', () => {
    const query = parseQuery('Topic:x topic:y label:"a b" -not:this in:z https://example.org plain a:')
    expect(query.unknown_filters).toEqual(['topic', 'label'])
  })

  it('searches for the first twenty words and phrases of a pasted text, and takes all filters', () => {
    const words = Array.from({ length: 30 }, (_, n) => `w${n}`)
    const query = parseQuery(`"a b" -no ${words.join(' ')} ab* from:ada`)
    expect(shown(query.all)).toEqual(['a b', ...words.slice(0, 18).map((word) => word.replace('w', 'w '))])
    expect(shown(query.none)).toEqual(['no'])
    expect(query.filters.from).toEqual(['ada'])
  })

  it.each([
    ['ab*', 'at least 3 characters'],
    ['x qwen3.6*', 'at least 3 characters'],
  ])('%s is refused', (q, message) => {
    expect(() => parseQuery(q)).toThrow(
      expect.objectContaining({
        code: 'validation_failed',
        errors: [{ path: 'q', message: expect.stringContaining(message) }],
      }),
    )
  })

  it.each([
    ['Two words', 'one two, words', true],
    ['"two words"', 'two more words', false],
    ['hel*', 'I say hello', true],
    ['hello', 'hel', false],
    ['"say hel*"', 'I say hello', false],
    ['北京', '我在北京', true],
    ['北京', '北。京', false],
    ['京', '我在北京', true],
    ['"北京 东京"', '北京，东京', true],
    ['qwen3.6', 'QWEN 3.6 is here', true],
    ['qwen3.6', '3.6 qwen', false],
    ['👍', 'ok 👍🏽', false],
    ['❤', 'I ❤️ it', true],
  ])('%s in "%s": %s', (q, text, isThere) => {
    const { all } = parseQuery(q)
    expect(finish(findPlaces(text, all)).every((place) => place !== undefined)).toBe(isThere)
  })

  it('finds nothing that the words of the index do not propose, and a text finds itself', () => {
    const some = [
      '\u0301',
      '\u0E33',
      '\u0E4D',
      '\u200D',
      '\uFE0F',
      '\u20E3',
      '\u1161',
      'ﾞ',
      '👍🏽',
      '🇩🇪',
      '㍿',
      '𐌰',
      'ﷺ',
    ]
    const character = fc.constantFrom(...some, ...'aB1 -½①㈱㌀株式ガｶ한ทน้Ö#*👨㏠日々ーᄀह〇㊗ßﬁ')
    fc.assert(
      fc.property(fc.array(character, { maxLength: 14 }), fc.nat(14), fc.nat(14), (characters, start, end) => {
        const text = characters.join('')
        const isIn = (phrase: Phrase) => finish(findPlaces(text, [phrase]))[0] !== undefined
        const { inOrder, others } = finish(indexWords(text))
        const [whole] = parseQuery(`"${text}"`).all
        if (whole) expect(isIn(whole)).toBe(true)
        for (const phrase of parseQuery(`"${characters.slice(start, end).join('')}"`).all.filter(isIn))
          for (const { words } of indexTerms(phrase)) {
            const isHere = inOrder.some((_, n) => words.every((word, k) => inOrder[n + k] === word))
            expect(isHere || (words.length === 1 && others.includes(words[0]!))).toBe(true)
          }
      }),
      { numRuns: 500 },
    )
  })

  it('is asked for by the words of the index', () => {
    const terms = (q: string) =>
      parseQuery(q)
        .all.flatMap(indexTerms)
        .map(({ words, isPrefix }) => words.join(' ') + (isPrefix ? '*' : ''))
    expect(terms('我在北京 猫 hel* a-bcd* "北京 用x" "x北京x 用"')).toEqual([
      '我在 在北 北京',
      '猫',
      'hel*',
      'a bcd*',
      '北京',
      '用 x',
      'x 北京 京 x',
      '用',
    ])
  })
})

describe('an excerpt', () => {
  const excerpt = (text: string, q: string) =>
    toExcerpt(
      text,
      finish(findPlaces(text, parseQuery(q).all)).filter((place) => place !== undefined),
    )

  it('marks each match', () => {
    const text = 'Ein Straßenfest, sagte Ödön, ist kein Fest.'
    const found = excerpt(text, 'ödön fest odon')!
    expect(found.text).toBe(text)
    expect(found.ranges.map(([start, end]) => text.slice(start, end))).toEqual(['Ödön', 'Fest'])
  })

  it('marks what it has of a match that is longer', () => {
    const text = Array(60).fill('steam').join(' ')
    const { text: shown, ranges } = excerpt(text, `"${text}"`)!
    expect([shown, ranges]).toEqual([text.slice(0, 200), [[0, 200]]])
  })

  it('is short, around the first match, and cuts no grapheme', () => {
    const family = '👨‍👩‍👧'
    const text = `${family.repeat(60)} needle ${family.repeat(60)} needle`
    const found = excerpt(text, 'needle')!
    expect(found.text.length).toBeLessThanOrEqual(200)
    expect(found.text.replaceAll(family, '').trim()).toBe('needle')
    expect(found.ranges.map(([start, end]) => found.text.slice(start, end))).toEqual(['needle'])
  })

  it('cuts no character, also of a letter with hundreds of marks', () => {
    const marks = '\u{1D165}'.repeat(200)
    for (const before of ['', ' ', 'a ', 'ab ']) {
      const found = excerpt(`${before}a${marks} needle a${marks}`, 'needle')!
      expect(isStorable(found.text)).toBe(true)
      expect(found.ranges.map(([start, end]) => found.text.slice(start, end))).toEqual(['needle'])
    }
  })

  it('finds a phrase over the parts in which a long text is read', () => {
    for (let before = 1_000; before < 1_040; before++) {
      const text = `${'x '.repeat(before / 2)}${' '.repeat(before % 2)}steam engine ${'y '.repeat(3_000)}`
      const [place] = finish(findPlaces(text, parseQuery('"steam engine"').all))
      expect(text.slice(...place!)).toBe('steam engine')
    }
  })

  it('is none without a match', () => {
    expect(excerpt('nothing of it', 'needle')).toBeUndefined()
  })
})
