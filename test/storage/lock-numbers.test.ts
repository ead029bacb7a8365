import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const LIB = new URL('../../lib/', import.meta.url)

it('no two advisory locks share a number: one would wait for the other without a reason', () => {
  const numbers = readdirSync(LIB, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .flatMap((path) => {
      const text = readFileSync(new URL(path, LIB), 'utf8')
      return Array.from(text.matchAll(/_LOCK = ([\d_]+)/g), ([, number]) => ({ path, number: number! }))
    })
  expect(numbers.length).toBeGreaterThan(5)
  const shared = numbers.filter(({ number }, n) => numbers.some((other, m) => m !== n && other.number === number))
  expect(shared).toEqual([])
})
