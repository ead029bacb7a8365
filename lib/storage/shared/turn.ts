import { AsyncLocalStorage } from 'node:async_hooks'
import { ChatError } from '../../core/errors.ts'
import { createSlots } from '../../core/scheduling/slots.ts'

/** How many transactions may wait for a handle: each keeps the request of a caller. */
const MAX_WAITING = 1_000

/** A turn that has begun, for the calls that are made in it. */
interface Turn {
  handle: object
  isOver: boolean
}

const slots = createSlots<object>({
  perKey: 1,
  maxWaitingPerKey: MAX_WAITING,
  refuse: {
    key: () =>
      new ChatError('unavailable', {
        message: `${MAX_WAITING} transactions wait for this handle.`,
        retry_after_seconds: 1,
      }),
  },
})
const inside = new AsyncLocalStorage<readonly Turn[]>()

/** Runs the works of a handle one after another, in the order of the calls, since a handle has one transaction. */
export async function runOneByOne<T>(handle: object, work: () => Promise<T>): Promise<T> {
  const outer = inside.getStore() ?? []
  if (outer.some((turn) => turn.handle === handle && !turn.isOver))
    throw new Error('withTransaction: it is called inside another one on the same handle, and would wait for itself')
  const turn: Turn = { handle, isOver: false }
  return slots.run(handle, async () => {
    try {
      return await inside.run([...outer, turn], work)
    } finally {
      turn.isOver = true
    }
  })
}
