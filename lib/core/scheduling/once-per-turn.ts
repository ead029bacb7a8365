// Apart from `once.ts`, which clients bundle: browsers have no turns of this kind.
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Makes the calls of one turn of the event loop one call of `work`, in the next turn: it knows what was there before each. */
export function oncePerTurn<T>(work: () => Promise<T>): () => Promise<T> {
  let next: Promise<T> | undefined
  return () => {
    next ??= nextTurn().then(() => {
      next = undefined
      return work()
    })
    return next
  }
}
