import { pause } from '../client/backoff.ts'
import type { ReceiveStore } from '../receive/index.ts'

/** Hands an event over. */
export type HandOver = () => void

/** Reads what an event does not say. */
export type Preparation = () => Promise<HandOver>

/** How many events a process remembers that it has handed over without knowing whether their ids are stored. */
const MAX_REMEMBERED = 1000

/**
 * A store for effects that return a preparation: what an event needs is read before its transaction. It is handed over in
 * the transaction, when its id is inserted, and before that commits. So it comes again after a kill, or where no commit was
 * seen, unless its id is stored; a process that has handed it over knows that. Each event has a transaction of its own, and
 * the position moves with the last.
 */
export function handingOver(store: ReceiveStore<unknown>, report: (error: unknown) => void): ReceiveStore<unknown> {
  const handedOver = new Set<string>()

  function handOverOnce(id: string, handOver: HandOver): void {
    if (handedOver.has(id)) return
    if (handedOver.size === MAX_REMEMBERED) handedOver.clear()
    handedOver.add(id)
    try {
      handOver()
    } catch (error) {
      report(error)
    }
  }

  return {
    migrate: () => store.migrate(),
    positions: (source) => store.positions(source),
    forget: (source, forgetting) => store.forget(source, forgetting),
    async apply({ ids, move, ...unit }) {
      if (ids.length === 0) return store.apply({ ...unit, ids, ...(move && { move }) })
      let applied = 0
      for (const id of ids.slice(ids.length > 1 ? await findNew(store, unit.source, ids) : 0)) {
        const handOver = await (unit.run(undefined, id) as Preparation)()
        const run = () => handOverOnce(id, handOver)
        const count = await store.apply({ ...unit, ids: [id], run, ...(move && id === ids.at(-1) && { move }) })
        if (count === undefined) return undefined
        handedOver.delete(id)
        applied += count
        // The SDK takes more steps to the handlers of some types than to those of others.
        if (count > 0) await pause(0)
      }
      return applied
    },
  }
}

/**
 * Where the first new id of a page is, or else its last one: after a kill those before it are stored, and nothing is read for
 * them again. Nothing of this transaction stays.
 */
async function findNew(store: ReceiveStore<unknown>, source: string, ids: readonly string[]): Promise<number> {
  let found = ids.length - 1
  const over = new Error()
  const run = (_: unknown, id: string) => {
    found = ids.indexOf(id)
    throw over
  }
  await store.apply({ source, ids, run }).catch((error) => {
    if (error !== over) throw error
  })
  return found
}
