import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ChatError } from '../../../lib/index.ts'
import { createWriteQueue } from '../../../lib/live/transaction/write-queue.ts'

/** What becomes of one transaction: `unreachable` before its work begins, the others after it. */
type Outcome = 'commits' | 'runs twice' | 'unreachable' | 'fails' | 'is refused'

interface Item {
  id: number
  target: string
  /** Whether its store refuses it, and whether its conversation is locked by another process. */
  isRefused: boolean
  isLocked: boolean
  /** Whether it breaks each transaction that it is part of. */
  isBroken: boolean
  /** How many turns of the event loop it is added after the one before. */
  pause: number
}

const item = fc.record({
  target: fc.constantFrom('a', 'b', 'c'),
  isRefused: fc.boolean(),
  isLocked: fc.boolean(),
  isBroken: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  pause: fc.integer({ min: 0, max: 2 }),
})
const outcome = fc.constantFrom<Outcome>(
  'commits',
  'commits',
  'commits',
  'runs twice',
  'unreachable',
  'fails',
  'is refused',
)

/** A queue on a database whose transactions have these outcomes, and then succeed; `stored` has the committed items. */
function start(dialect: 'sqlite' | 'postgresql', outcomes: Outcome[]) {
  const stored: number[] = []
  const left = [...outcomes]
  async function write(work: (tx: never) => Promise<unknown>): Promise<unknown> {
    const outcome = left.shift() ?? 'commits'
    await nextTurn()
    if (outcome === 'unreachable') throw new ChatError('unavailable')
    if (outcome === 'runs twice') await work([] as never)
    const staged: number[] = []
    const value = await work(staged as never)
    await nextTurn()
    if (outcome === 'fails') throw new Error('A constraint')
    if (outcome === 'is refused') throw new ChatError('storage_full')
    stored.push(...staged)
    return value
  }
  const queue = createWriteQueue<Item, { id: number }>({ db: { dialect }, write } as never, {
    async store(tx, items, { unlessLocked }) {
      if (items.some(({ isBroken }) => isBroken)) throw new Error('A constraint')
      const isSkipped = ({ isLocked }: Item) => isLocked && unlessLocked && dialect === 'postgresql'
      const isStored = (each: Item) => !each.isRefused && !isSkipped(each)
      const staged = tx as never as number[]
      staged.push(...items.filter(isStored).map(({ id }) => id))
      return items.map((each) => {
        if (isSkipped(each)) return undefined
        return each.isRefused ? new ChatError('forbidden') : { id: each.id }
      })
    },
    targetOf: ({ target }) => target,
  })
  return { queue, stored }
}

it.each(['sqlite', 'postgresql'] as const)(
  'each item is stored once, or refused, whatever fails (%s)',
  async (dialect) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(item, { maxLength: 40 }),
        fc.array(outcome, { maxLength: 12 }),
        async (given, outcomes) => {
          const { queue, stored } = start(dialect, outcomes)
          const results: Promise<PromiseSettledResult<{ id: number }>>[] = []
          for (const [id, each] of given.entries()) {
            for (let turn = 0; turn < each.pause; turn++) await nextTurn()
            results.push(Promise.allSettled([queue.add({ ...each, id })]).then(([result]) => result!))
          }
          const settled = await Promise.all(results)
          const kept = settled.flatMap((result) => (result.status === 'fulfilled' ? result.value.id : []))
          expect(stored.sort((a, b) => a - b)).toEqual(kept)
          for (const [id, { isRefused, isBroken }] of given.entries())
            if (isRefused || isBroken) expect(settled[id]!.status).toBe('rejected')
        },
      ),
      { numRuns: 200, seed: 1 },
    )
  },
)
