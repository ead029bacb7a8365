import { expect, it } from 'vitest'
import { createReplaySlots } from '../../../lib/live/hub/replay-slots.ts'
import type { Reader } from '../../../lib/live/readers/reader.ts'

const readerOf = (user_id: string) => ({ user_id, closed: false }) as Reader

/** Readers of users ("a1" is one of "a") that ask for a slot, and those that have got one, in this order. */
async function ask(slots: ReturnType<typeof createReplaySlots>, ...names: string[]) {
  const got: string[] = []
  const refused: string[] = []
  const readers = new Map(names.map((name) => [name, readerOf(name[0]!)]))
  for (const [name, reader] of readers)
    void slots.take(reader).then((hasSlot) => void (hasSlot ? got : refused).push(name))
  const leave = async (name: string) => {
    slots.leave(readers.get(name)!)
    await settled()
  }
  await settled()
  return { got, refused, leave, readers }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

it('are taken in the order of arrival', async () => {
  const { got, leave } = await ask(createReplaySlots(2), 'a1', 'b1', 'c1', 'd1')
  expect(got).toEqual(['a1', 'b1'])
  await leave('b1')
  await leave('a1')
  expect(got).toEqual(['a1', 'b1', 'c1', 'd1'])
})

it('are taken by users in turn, however many streams one has', async () => {
  const { got, leave } = await ask(createReplaySlots(2), 'a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'b2', 'c1')
  for (const name of ['a1', 'a2', 'a3', 'b1', 'c1', 'a4']) await leave(name)
  expect(got).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2', 'a5'])
})

it('are kept by a reader that asks again', async () => {
  const slots = createReplaySlots(1)
  const { got, readers } = await ask(slots, 'a1', 'b1')
  expect(await slots.take(readers.get('a1')!)).toBe(true)
  expect(got).toEqual(['a1'])
})

it('are not for a reader that is closed, before it asks or while it waits', async () => {
  const slots = createReplaySlots(1)
  expect(await slots.take({ ...readerOf('z'), closed: true })).toBe(false)
  const { got, refused, leave } = await ask(slots, 'a1', 'b1', 'c1')
  await leave('b1')
  expect([got, refused]).toEqual([['a1'], ['b1']])
  await leave('a1')
  expect(got).toEqual(['a1', 'c1'])
  await leave('c1')
  expect((await ask(slots, 'd1')).got).toEqual(['d1'])
})
