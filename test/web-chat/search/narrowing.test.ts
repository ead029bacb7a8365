import { expect, it } from 'vitest'
import { hrefOf, parseHash } from '../../../examples/web-chat/src/app/route.ts'
import { leftOverOf, narrow, queryWords } from '../../../examples/web-chat/src/search/narrowing.ts'

const ID = '01980a3c-a000-7a10-8b20-0c4f1d2e3a46'
const CONVERSATIONS = [
  { id: '1', title: 'Engines' },
  { id: '2', title: 'Engines of steam' },
  { id: '3', title: 'Tea & cake' },
  { id: '4', title: 'Twice' },
  { id: '5', title: 'Twice' },
]

it.each([
  ['steam engine', { q: 'steam engine' }],
  ['  steam   in:engines ', { q: 'steam', in: '1' }],
  ['in:"Tea & cake" milk', { q: 'milk', in: '3' }],
  ['IN:tea', { q: '', in: '3' }],
  [`in:${ID} a`, { q: 'a', in: ID }],
  ['in:twice in:nowhere in:', { q: 'in:twice in:nowhere in:' }],
  ['from:me from', { q: 'from', from: '@ada' }],
  ['from:grace', { q: '', from: '@grace' }],
  ['from:"Grace Hopper" x', { q: 'x', from: 'Grace Hopper' }],
  ['on:2026-02-28 x', { q: 'x', after: '2026-02-28', before: '2026-03-01' }],
  ['from:@grace has:LINK', { q: '', from: '@grace', has: 'link' }],
  ['has:file x', { q: 'x', has: 'file' }],
  ['has:wings x', { q: 'has:wings x' }],
  ['before:2026-05-31 after:2026-01-01 a', { q: 'a', before: '2026-05-31', after: '2026-01-01' }],
  ['before:2026-13-31 before:soon', { q: 'before:2026-13-31 before:soon' }],
  ['"a phrase" -in:x', { q: '"a phrase" -in:x' }],
])('%j narrows a search', (typed, narrowed) => {
  expect(narrow(typed, CONVERSATIONS, 'ada')).toEqual(narrowed)
})

it('keeps a search in its address, whatever is looked for', () => {
  const route = { name: 'search', q: 'a/b?c=d&e "f" #g 😀', in: ID, from: '@ada', has: 'pin' } as const
  expect(parseHash(hrefOf(route))).toEqual(route)
  expect(parseHash('#/search')).toEqual({ name: 'search', q: '' })
  expect(parseHash('#/search?name=x&q=%')).toEqual({ name: 'search', q: '%' })
})

it.each([
  ['steam', 'steam*', []],
  ['a kettle ', 'a kettle*', []],
  ['ab', 'ab', []],
  ['e\u0301e\u0301', 'e\u0301e\u0301', []],
  ['2026', '2026*', []],
  ['qwen36 ab12', 'qwen36 ab12', []],
  ['tea -coffee', 'tea -coffee', []],
  ['"a phrase', '"a phrase', []],
  ['"a phrase"', '"a phrase"', []],
  ['"a phrase" more', '"a phrase" more*', []],
  ['word*', 'word*', []],
  ['', '', []],
  ['in:nowhere x', 'in nowhere x', ['in:nowhere']],
  ['x in:nowhere', 'x in nowhere*', ['in:nowhere']],
  ['from:"Nobody at all" thread:1', 'from "Nobody at all" thread 1', ['from:"Nobody at all"', 'thread:1']],
  ['"say in: there" topic:x in:', '"say in: there" topic:x in:', []],
])('of %j the words %j are looked for', (q, words, left) => {
  expect(queryWords(q)).toBe(words)
  expect(leftOverOf(q)).toEqual(left)
})
