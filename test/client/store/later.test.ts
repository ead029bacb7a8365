import { expect, it, vi } from 'vitest'
import { laterPlan, type PlanBody } from '../../../lib/client/store/later.ts'
import type { ConversationStreamEvent } from '../../../lib/client/types.ts'

interface Data {
  count: number
}

const EVENT: ConversationStreamEvent = {
  type: 'notification.read',
  payload: { unread: 0 },
} as unknown as ConversationStreamEvent

const body: PlanBody<Data> = {
  read: async ({ count }) => ({ count: count + 1 }),
  fold: ({ count }) => ({ count: count + 10 }),
  isUnsure: (_, { count }) => count > 10,
}

function planOf(load: () => Promise<PlanBody<Data>>) {
  return laterPlan({ initial: { count: 0 }, load, view: (data) => data })
}

it('loads the body of a plan with the first reading, once', async () => {
  const load = vi.fn(async () => body)
  const plan = planOf(load)
  expect(load).not.toHaveBeenCalled()
  const read = await plan.read(plan.initial, false, plan.initial)
  expect(await plan.read(read, false, plan.initial)).toEqual({ count: 2 })
  expect(load).toHaveBeenCalledTimes(1)
  expect(plan.fold(read, EVENT)).toEqual({ count: 11 })
  expect(plan.isUnsure!(EVENT, { count: 11 }, false)).toBe(true)
})

it('reads what a snapshot has again after an event that comes before the first reading', () => {
  const plan = planOf(async () => body)
  expect(plan.fold({ count: 5 }, EVENT)).toBe('stale')
  expect(plan.isUnsure!(EVENT, { count: 11 }, false)).toBe(false)
})

it('loads the body again after a failure', async () => {
  const load = vi.fn(async () => body).mockRejectedValueOnce(new TypeError('Failed to fetch'))
  const plan = planOf(load)
  await expect(plan.read(plan.initial, false, plan.initial)).rejects.toThrow('Failed to fetch')
  expect(await plan.read(plan.initial, false, plan.initial)).toEqual({ count: 1 })
})
