import { expect, it } from 'vitest'
import { createPublishOrder } from '../../../lib/live/transaction/publish-order.ts'

const heads = (...pairs: [string, number][]) => new Map(pairs)

/** Enters a transaction that is published once its turn has come. */
function publishing(order: ReturnType<typeof createPublishOrder>, published: string[]) {
  return (name: string, at: Map<string, number>) => {
    const ticket = order.enter(at)
    return async () => {
      await ticket.turn()
      published.push(name)
      ticket.leave()
    }
  }
}

it('lets a commit that is confirmed too early wait for those before it in its logs', async () => {
  const published: string[] = []
  const order = createPublishOrder()
  const enter = publishing(order, published)
  const first = enter('first', heads(['a', 4]))
  const second = enter('second', heads(['a', 6], ['b', 1]))
  const third = enter('third', heads(['b', 2]))
  const other = enter('other', heads(['c', 9]))
  await Promise.all([third(), second(), other(), first()])
  expect(published).toEqual(['other', 'first', 'second', 'third'])
  expect(order.size()).toBe(0)
})

it('does not wait for one that has failed, and costs no turn without others', async () => {
  const order = createPublishOrder()
  const failing = order.enter(heads(['a', 1]))
  const next = order.enter(heads(['a', 1]))
  expect(next.turn()).toBeUndefined()
  const later = order.enter(heads(['a', 3]))
  const turn = later.turn()
  expect(turn).toBeDefined()
  failing.leave()
  next.leave()
  await turn
  // A transaction that the database aborts takes another place when it is repeated.
  failing.leave()
  later.leave()
  expect(order.size()).toBe(0)
})
