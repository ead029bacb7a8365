import { expect, it } from 'vitest'
import { createRecent } from '../../lib/core/recent.ts'

it('keeps the values that were added last', () => {
  const recent = createRecent(2)
  for (const value of ['a', 'b', 'a', 'c']) recent.add(value)
  expect(['a', 'b', 'c'].map(recent.has)).toEqual([true, false, true])
  recent.delete('c')
  recent.add('b')
  expect(['a', 'b', 'c'].map(recent.has)).toEqual([true, true, false])
})
