import { expect, it } from 'vitest'
import { judgeSearch } from '../../../cli/doctor/search.ts'

it.each<[string[], Parameters<typeof judgeSearch>[0]]>([
  [['search.index'], { waiting: 9_999, refused: 0, filling: false }],
  [['search.filling'], { waiting: 900_000, refused: 0, filling: true }],
  [['search.behind'], { waiting: 10_000, refused: 0, filling: false }],
  [['search.refused'], { waiting: 10_000, refused: 2, filling: false }],
  [['search.refused', 'search.behind'], { waiting: 10_002, refused: 2, filling: false }],
])('reports %j about the search index', (codes, state) => {
  expect(judgeSearch(state).map(({ code }) => code)).toEqual(codes)
})
