import { describe, expect, it } from 'vitest'
import { packEmoji, packNames } from '../../../.ci/emoji.mjs'
import { type Emoji, findEmoji, readEmoji, withTone } from '../../../examples/web-chat/src/emoji/emoji.ts'
import { isEmoji } from '../../../lib/core/emoji.ts'

const flagsIn = (code: string, flag: string) => {
  const names = new Intl.DisplayNames([code], { type: 'region' })
  return { flag, regionOf: (region: string) => names.of(region) }
}
const packed = await packEmoji()
const english = readEmoji(packed, undefined, [flagsIn('en', 'flag')])
const german = readEmoji(packed, await packNames('de'), [flagsIn('en', 'flag'), flagsIn('de', 'Flagge')])
const signs = (found: readonly Emoji[]) => found.map(({ sign }) => sign)

describe('the emoji of the page', () => {
  it('are all of Unicode, in nine groups, each with a name of its own, and the service takes each as a reaction', () => {
    expect(english.length).toBeGreaterThan(1_900)
    expect(new Set(english.map(({ group }) => group)).size).toBe(9)
    for (const all of [english, german]) expect(new Set(all.map(({ name }) => name)).size).toBe(all.length)
    const written = english.flatMap((emoji) => [emoji.sign, ...[1, 2, 3, 4, 5].map((tone) => withTone(emoji, tone))])
    expect(written.filter((sign) => !isEmoji(sign))).toEqual([])
  })

  it('are found by the beginning of a name, of a word of it, and of other words: the best first', () => {
    expect(signs(findEmoji(english, 'tada', 8))[0]).toBe('🎉')
    expect(signs(findEmoji(english, 'heart', 8))[0]).toBe('❤️')
    expect(signs(findEmoji(english, '+1', 8))).toEqual(['👍'])
    expect(signs(findEmoji(english, 'thumbs_up', 8))[0]).toBe('👍')
    expect(signs(findEmoji(english, 'bye', 8))).toContain('👋')
    expect(signs(findEmoji(english, 'Germany', 8))).toEqual(['🇩🇪'])
    expect(findEmoji(english, 'fl', 8)).toHaveLength(8)
    expect(findEmoji(english, 'zzzz', 8)).toEqual([])
    expect(findEmoji(english, ' ', 8)).toEqual([])
  })

  it('have the names of another language beside those in English', () => {
    expect(signs(findEmoji(german, 'Rotes Herz', 8))).toEqual(['❤️'])
    expect(signs(findEmoji(german, 'hörner', 8))).toContain('🤘')
    expect(signs(findEmoji(german, 'deutschland', 8))).toEqual(['🇩🇪'])
    expect(signs(findEmoji(german, 'tada', 8))[0]).toBe('🎉')
    expect(german.find(({ sign }) => sign === '🇩🇪')?.name).toBe('Flagge: Deutschland')
    expect(english.find(({ sign }) => sign === '🇩🇪')?.name).toBe('flag: Germany')
  })

  it.each([
    ['👍', 0, '👍'],
    ['👍', 5, '👍🏿'],
    ['☝️', 1, '☝🏻'],
    ['🕵️‍♀️', 3, '🕵🏽‍♀️'],
    ['👩‍❤️‍💋‍👨', 2, '👩🏼‍❤️‍💋‍👨🏼'],
    ['🎉', 5, '🎉'],
  ])('%s in the tone %i is %s', (sign, tone, toned) => {
    expect(withTone(english.find((emoji) => emoji.sign === sign)!, tone)).toBe(toned)
  })
})
