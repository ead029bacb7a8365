import { expect, it } from 'vitest'
import { matching, mentionEdit, mentionQueryOf } from '../../../examples/web-chat/src/compose/mention-query.ts'
import { splitMentions } from '../../../examples/web-chat/src/markdown/split-mentions.ts'

it.each<[string, string | undefined]>([
  ['@', ''],
  ['Ask @gr', 'gr'],
  ['(@ada', 'ada'],
  ['two\n@Zoë', 'Zoë'],
  ['ada@example', undefined],
  ['path/@ada', undefined],
  ['@ada ', undefined],
  ['no name', undefined],
  ['交给@gr', 'gr'],
  ['**_@gr', 'gr'],
  ['snake_@gr', undefined],
])('after %j, a name is typed that begins with %j', (text, query) => {
  expect(mentionQueryOf(text, text.length)?.query).toBe(query)
})

it('reads the name before the caret, and puts the chosen one in its place', () => {
  const text = 'Is @gr there?'
  const query = mentionQueryOf(text, 6)!
  expect(query).toEqual({ start: 3, query: 'gr' })
  expect(mentionEdit(text, query, 'grace')).toEqual({ from: 3, to: 6, text: '@grace', start: 10, end: 10 })
  expect(mentionEdit('@', { start: 0, query: '' }, 'ada b')).toEqual({
    from: 0,
    to: 1,
    text: '@ada b ',
    start: 7,
    end: 7,
  })
})

it('offers usernames first, then words of names, six at most', () => {
  const choices = [
    { id: '1', username: 'countess', name: 'Ada Lovelace' },
    { id: '2', username: 'lovely', name: 'Grace' },
    { id: '3', username: 'x', name: 'Slovenia' },
  ]
  expect(matching(choices, 'LOVE').map(({ id }) => id)).toEqual(['2', '1'])
  const many = Array.from({ length: 9 }, (_, index) => ({ id: `${index}`, username: `u${index}`, name: '' }))
  expect(matching(many, '')).toHaveLength(6)
})

it('offers all assistants before people, by a word of a name or by the key', () => {
  const assistant = (key: string, title: string) => ({ id: key, username: key, name: title, assistant: { key, title } })
  const many = Array.from({ length: 8 }, (_, index) => assistant(`a${index}`, `Helper ${index}`))
  const choices = [{ id: '1', username: 'ada', name: 'Ada' }, ...many, assistant('coder', 'Writes code')]
  expect(matching(choices, '').map(({ id }) => id)).toEqual([...many.map(({ id }) => id), 'coder', '1'])
  expect(matching(choices, 'code').map(({ id }) => id)).toEqual(['coder'])
  expect(matching(choices, 'a').map(({ id }) => id)).toEqual([...many.map(({ id }) => id), '1'])
})

it('offers the assistant first, by a word of its name, and takes what was typed of it out of the text', () => {
  const choices = [
    { id: '1', username: 'ada', name: 'Ada' },
    { id: 'assistant', name: 'Chat Assistant', assistant: { title: 'Chat Assistant' } },
  ]
  expect(matching(choices, '').map(({ id }) => id)).toEqual(['assistant', '1'])
  expect(matching(choices, 'a').map(({ id }) => id)).toEqual(['assistant', '1'])
  expect(matching(choices, 'ad').map(({ id }) => id)).toEqual(['1'])
  expect(mentionEdit('Hi @as you', { start: 3, query: 'as' }, undefined)).toEqual({
    from: 3,
    to: 7,
    text: '',
    start: 3,
    end: 3,
  })
})

it.each<[string, string[]]>([
  ['Hello @Ada, and @ada-lovelace!', ['@Ada', '@ada-lovelace']],
  ['@adam @ada.b x@ada @ada_b x_@ada', []],
  ['交给@ada处理 @ada_', ['@ada', '@ada']],
  ['@ada. @ada', ['@ada', '@ada']],
  ['@a.*b (c) is one, @axxb (c) is none', ['@a.*b (c)']],
])('marks in %j the mentions %j', (text, marked) => {
  const names = new Map([
    ['ada', true],
    ['ada-lovelace', false],
    ['a.*b (c)', false],
  ])
  const parts = splitMentions(text, names)
  expect(parts.flatMap((part) => (typeof part === 'string' ? [] : part.text))).toEqual(marked)
  expect(parts.map((part) => (typeof part === 'string' ? part : part.text)).join('')).toBe(text)
})
