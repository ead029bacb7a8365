import { describe, expect, it } from 'vitest'
import { entriesOf, indexEntries, isCalled, pairEntries, queryWords } from '../../../lib/accounts/users/rules-words.ts'

describe('a user is found by', () => {
  it.each([
    ['lo ad', 'ada', 'Ada Lovelace'],
    ['LOVE', 'ada', 'Ada Lovelace'],
    ['ada.lo', 'ada', 'Ada Lovelace'],
    ['hohen', 'mm', 'Márta von Hohenberg'],
    ['marta', 'mm', 'Márta von Hohenberg'],
    ['strasse', 'strasser', 'Anna Straße'],
    ['明', 'wang', '王小明'],
    ['小明', 'wang', '王小明'],
    ['王 明', 'wang', '王小明'],
    ['김철', 'kim', '김철수'],
    ['수', 'kim', '김철수'],
    ['สม', 'somchai', 'สมชาย'],
    ['иван', 'ivan', 'Пётр Иванов'],
    ['петр', 'ivan', 'Пётр Иванов'],
    ['qwen3', 'qwen3', null],
    ['3', 'qwen3', null],
    ['j smith', 'x', 'John Smith'],
    ['gr', 'x', '交给grace'],
  ])('%j as %j, %j', (query, username, display_name) => {
    expect(isCalled(queryWords(query), username, display_name)).toBe(true)
    const entries = indexEntries({ username, display_name, disabled_at: null })
    for (const word of queryWords(query)) expect(hasEntry(entries, entriesOf(word))).toBe(true)
    const pair = pairEntries(queryWords(query))
    if (pair) expect(hasEntry(entries, pair)).toBe(true)
  })

  it.each([
    ['velace', 'ada', 'Ada Lovelace'],
    ['ada grace', 'ada', 'Ada Lovelace'],
    ['ada9', 'ada', 'Ada 9lives'],
    ['明小', 'wang', '王小明'],
  ])('not by %j as %j, %j', (query, username, display_name) => {
    expect(isCalled(queryWords(query), username, display_name)).toBe(false)
  })
})

it('a word that begins another one of the query is found with it', () => {
  expect(queryWords('ad ada AD lo')).toEqual([
    { text: 'ada', isDense: false },
    { text: 'lo', isDense: false },
  ])
})

it('the entries of a disabled user are others', () => {
  const names = { username: 'ada', display_name: null }
  const active = indexEntries({ ...names, disabled_at: null })
  expect(active).toEqual(['ada', 'ad'])
  expect(indexEntries({ ...names, disabled_at: 1 })).toEqual(['-ada', '-ad'])
})

it('the longest names have a bound on their entries', () => {
  const longest = { username: 'a.'.repeat(32).slice(0, 63), display_name: '王小明李'.repeat(50), disabled_at: null }
  expect(indexEntries(longest).length).toBeLessThan(250)
})

function hasEntry(entries: string[], { text, isWhole }: { text: string; isWhole: boolean }): boolean {
  return entries.some((entry) => (isWhole ? entry === text : entry.startsWith(text)))
}
