import { expect, it } from 'vitest'
import type { Written } from '../../../lib/chat/answers/service-rows.ts'
import { createSharedPages, type SharedPage } from '../../../lib/protocols/rows/shared-pages.ts'

const page = (size: number): SharedPage => ({
  bytes: new Uint8Array(size),
  next: 1,
  last_at: undefined,
  is_end: false,
  steps: undefined,
  frames: undefined,
})

const LOOK = { message: {} as Written, is_edited: false }

/** Lets streams join whose answer stays as it is. */
function joining(max_bytes?: number) {
  const join = createSharedPages(max_bytes)
  return (key: string) => join(key, async () => LOOK)
}

it('looks at the answer once for all that ask in a turn of the event loop, after they have asked', async () => {
  const join = createSharedPages()
  let looks = 0
  const [one, two] = ['a', 'a'].map((key) =>
    join(key, async () => {
      looks++
      return LOOK
    }),
  )
  const asked = [one!.look(), two!.look(), one!.look()]
  expect(looks).toBe(0)
  expect(await Promise.all(asked)).toEqual([LOOK, LOOK, LOOK])
  expect(looks).toBe(1)
  await two!.look()
  expect(looks).toBe(2)
})

it('keeps a page for the others while several streams catch up, and no longer', async () => {
  const join = joining()
  const [one, two] = [join('a'), join('a')]
  const first = page(10)
  const settle = one.begin(0)!
  const found = two.find(0)
  settle(first)
  expect(await found).toBe(first)
  expect(await two.find(0)).toBe(first)
  expect([two.kept(0), two.kept(1)]).toEqual([first, undefined])
  // It is there: nobody renders it again.
  expect(two.begin(0)).toBeUndefined()
  one.leave()
  expect(await two.find(0)).toBe(first)
  two.leave()
  expect(join('a').find(0)).toBeUndefined()
})

it('keeps nothing for a stream that is alone, and for others than those with the same key', () => {
  const join = joining()
  const one = join('a')
  expect(one.begin(0)).toBeUndefined()
  const [two, other] = [join('b'), join('c')]
  const also = join('b')
  two.begin(0)!(page(1))
  expect(also.find(0)).toBeDefined()
  expect(other.find(0)).toBeUndefined()
})

it('has none of a page that could not be shared', async () => {
  const join = joining()
  const [one, two] = [join('a'), join('a')]
  const settle = one.begin(0)!
  const found = two.find(0)
  expect(two.kept(0)).toBeUndefined()
  settle(undefined)
  expect(await found).toBeUndefined()
  expect(two.find(0)).toBeUndefined()
  expect(two.begin(0)).toBeDefined()
})

it('keeps no more bytes than it may, and gives them back', async () => {
  const join = joining(100)
  const [one, two] = [join('a'), join('a')]
  one.begin(0)!(page(60))
  const settle = one.begin(1)!
  const found = two.find(1)
  settle(page(60))
  // Whoever has waited for it gets it.
  expect(await found).toBeDefined()
  expect(two.find(1)).toBeUndefined()
  one.leave()
  two.leave()
  const [three, four] = [join('b'), join('b')]
  three.begin(0)!(page(100))
  expect(await four.find(0)).toBeDefined()
})
