import { expect, it } from 'vitest'
import { fit, MAX_PAGE_BYTES } from '../../lib/core/pages.ts'

it('fills a page with as many items as fit, at least one, and measures none beyond', () => {
  const measured: number[] = []
  const item = (id: number, bytes: number) => ({
    toJSON() {
      measured.push(id)
      return 'x'.repeat(bytes - 3)
    },
  })
  const half = [1, 2, 3, 4, 5].map((id) => item(id, MAX_PAGE_BYTES / 2))
  expect(fit(half)).toEqual(half.slice(0, 2))
  expect(measured).toEqual([1, 2, 3])
  const large = [item(6, 2 * MAX_PAGE_BYTES), item(7, 10)]
  expect(fit(large)).toEqual(large.slice(0, 1))
  expect(fit(half.slice(0, 2))).toHaveLength(2)
  expect(fit([])).toEqual([])
})
