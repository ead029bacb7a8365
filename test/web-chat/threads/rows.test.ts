import { expect, it } from 'vitest'
import { BLOCK, blocksOf } from '../../../examples/web-chat/src/threads/blocks.ts'
import { type Row, rowsOf } from '../../../examples/web-chat/src/threads/rows.ts'
import type { StoreMessage } from '../../../lib/client/store/index.ts'

/** A thread from its ids, depth first: `a > b` is a reply to a. */
function thread(...lines: string[]): StoreMessage[] {
  const depths = new Map<string, number>()
  return lines.map((line) => {
    const [parent_id, id = parent_id] = line.split(' > ') as [string, string?]
    const depth = id === parent_id ? 0 : depths.get(parent_id)! + 1
    depths.set(id, depth)
    return { id, depth, ...(depth > 0 && { parent_id }) } as StoreMessage
  })
}

const levelsOf = (rows: Row[]) => rows.map(({ message, level }) => `${message.id}${level}`).join(' ')
const branchesOf = (rows: Row[]) =>
  rows.filter(({ branch }) => branch).map(({ message, branch, below }) => `${message.id} ${branch} ${below}`)

it.each<[string, string[], string]>([
  ['one message after another', ['a', 'a > b', 'b > c', 'c > d'], 'a0 b0 c0 d0'],
  ['several replies', ['a', 'a > b', 'a > c', 'a > d'], 'a0 b1 c1 d1'],
  ['a reply in a branch', ['a', 'a > b', 'b > c', 'c > d', 'a > e'], 'a0 b1 c2 d2 e1'],
  ['a branch late in a thread', ['a', 'a > b', 'b > c', 'b > d', 'd > e'], 'a0 b0 c1 d1 e2'],
  ['branches in branches', ['a', 'a > b', 'b > c', 'b > d', 'a > e'], 'a0 b1 c2 d2 e1'],
])('indents %s', (_, lines, levels) => {
  expect(levelsOf(rowsOf(thread(...lines), new Set()))).toBe(levels)
})

it('collapses a branch with everything below it, and counts that', () => {
  const messages = thread('a', 'a > b', 'b > c', 'c > d', 'c > e', 'a > f')
  expect(branchesOf(rowsOf(messages, new Set()))).toEqual(['b open 3', 'c open 2'])
  const collapsed = rowsOf(messages, new Set(['b']))
  expect(levelsOf(collapsed)).toBe('a0 b1 f1')
  expect(branchesOf(collapsed)).toEqual(['b collapsed 3'])
  expect(levelsOf(rowsOf(messages, new Set(['c', 'unknown'])))).toBe('a0 b1 c2 f1')
})

it('has a place for a reply to a message of a page that was not read', () => {
  expect(levelsOf(rowsOf(thread('a'), new Set()))).toBe('a0')
  expect(rowsOf([], new Set())).toEqual([])
})

it('keeps each row in its block, whatever is inserted before it, hidden, or appended', () => {
  const ids = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `m${from + index}`)
  const rows = (names: string[]) => rowsOf(thread('a', ...names.map((name) => `a > ${name}`)), new Set())
  const placed = new Map<string, number>()
  const sizes = (names: string[]) => blocksOf(rows(names), placed).map(({ key, rows }) => `${key}:${rows.length}`)
  const all = ids(0, 2 * BLOCK)
  expect(sizes(all)).toEqual([`0:${BLOCK}`, `1:${BLOCK}`, '2:1'])
  const before = new Map(placed)
  expect(sizes(['new', ...all, 'last'])).toEqual([`0:${BLOCK + 1}`, `1:${BLOCK}`, '2:2'])
  expect(sizes(all.filter((_, index) => index > BLOCK))).toEqual(['0:1', `1:${BLOCK - 2}`, '2:1'])
  for (const [id, key] of before) expect(placed.get(id)).toBe(key)
  const keys = blocksOf(rows(all), placed).map(({ key }) => key)
  expect(keys).toEqual([...new Set(keys)])
})
