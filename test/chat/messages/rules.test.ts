import { describe, expect, it } from 'vitest'
import { childPath, isPath, ROOT_PATH } from '../../../lib/chat/messages/rules.ts'

describe('childPath', () => {
  it.each([
    ['10', 0, '1010'],
    ['10', 35, '101z'],
    ['10', 36, '10210'],
    ['10', 1296, '103100'],
    ['1010', 1, '101011'],
  ])('path %j, reply %i -> %j', (parent, ordinal, path) => {
    expect(childPath(parent, ordinal)).toBe(path)
  })

  it('sorts by bytes in the order of arrival, each reply before the next with all below it', () => {
    const paths = Array.from({ length: 50_000 }, (_, ordinal) => childPath(ROOT_PATH, ordinal))
    expect([...paths].sort()).toEqual(paths)
    expect([childPath(paths[35]!, 99_999), paths[36]!, childPath(paths[36]!, 0), paths[37]!].sort()).toEqual([
      childPath(paths[35]!, 99_999),
      paths[36],
      childPath(paths[36]!, 0),
      paths[37],
    ])
  })
})

describe('isPath', () => {
  it.each(['10', '1010', '10210', '1z', '3zzz'])('takes %j', (path) => expect(isPath(path)).toBe(true))
  it.each(['', '1', '0', '2a', '10.', '10 ', '1A', '-1', '１0'])('refuses %j', (path) =>
    expect(isPath(path)).toBe(false),
  )
})
