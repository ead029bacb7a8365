import { expect, it } from 'vitest'
import { emojiEdit, emojiQueryOf } from '../../../examples/web-chat/src/compose/emoji-query.ts'

it.each<[string, string | undefined]>([
  [':s', undefined],
  [':sh', 'sh'],
  ['Go :sho', 'sho'],
  ['(:+1', '+1'],
  ['two\n:hör', 'hör'],
  ['🎉:ta', 'ta'],
  ['at 12:30', undefined],
  ['http://sho', undefined],
  ['note:this', undefined],
  ['::std', 'std'],
  [':two words', undefined],
  [`:${'a'.repeat(49)}`, undefined],
  ['`:sho', undefined],
  ['`a` :sho', 'sho'],
  ['```\n:sho', undefined],
  ['```\na\n```\n:sho', 'sho'],
])('after %j, the name of an emoji is typed that begins with %j', (text, query) => {
  expect(emojiQueryOf(text, text.length)?.query).toBe(query)
})

it('puts an emoji in the place of its name: with a space behind a part of one, without behind a whole one', () => {
  const part = emojiQueryOf('Go :tad now', 7)!
  expect(part).toEqual({ start: 3, query: 'tad', isComplete: false })
  expect(emojiEdit('Go :tad now', part, '🎉')).toEqual({ from: 3, to: 7, text: '🎉', start: 6, end: 6 })
  expect(emojiEdit('Go :tad', part, '🎉')).toEqual({ from: 3, to: 7, text: '🎉 ', start: 6, end: 6 })
  const whole = emojiQueryOf('Go :tada:', 9)!
  expect(whole).toEqual({ start: 3, query: 'tada', isComplete: true })
  expect(emojiEdit('Go :tada:', whole, '🎉')).toEqual({ from: 3, to: 9, text: '🎉', start: 5, end: 5 })
})
