import { AsyncLocalStorage } from 'node:async_hooks'
import { ChatError } from '../../core/errors.ts'

/** How many transactions may wait for a handle: each keeps the request of a caller. */
const MOST_WAITING = 1_000

/** The turns at one handle, also of several services. */
interface Queue {
  last: Promise<unknown>
  size: number
}

/** A turn that has begun, for the calls that are made in it. */
interface Turn {
  handle: object
  isOver: boolean
}

const queues = new WeakMap<object, Queue>()
const inside = new AsyncLocalStorage<readonly Turn[]>()

/** Runs the works of a handle one after another, in the order of the calls, since a handle has one transaction. */
export async function inTurnOf<T>(handle: object, work: () => Promise<T>): Promise<T> {
  const outer = inside.getStore() ?? []
  if (outer.some((turn) => turn.handle === handle && !turn.isOver))
    throw new Error('withTransaction: it is called inside another one on the same handle, and would wait for itself')
  const queue = queues.get(handle) ?? { last: Promise.resolve(), size: 0 }
  queues.set(handle, queue)
  if (queue.size > MOST_WAITING) {
    const message = `${MOST_WAITING} transactions wait for this handle.`
    throw new ChatError('unavailable', { message, retry_after_seconds: 1 })
  }
  const turn: Turn = { handle, isOver: false }
  queue.size++
  const result = queue.last.then(() => inside.run([...outer, turn], work))
  queue.last = result.catch(() => {})
  try {
    return await result
  } finally {
    turn.isOver = true
    queue.size--
  }
}
