import { createCondition } from './condition.ts'

/** Workers that run while items wait. */
export interface Workers {
  /** An item was added: another worker starts, unless all are at work. */
  wake(): void
  /** Resolves when no item waits and none is worked on. */
  idle(): Promise<void>
}

/**
 * Works on items, on up to `concurrency` of them at the same time.
 *
 * @param options.next takes the next item; `undefined` ends the worker
 * @param options.work must not reject
 * @param options.onIdle is called when the last worker ends
 */
export function createWorkers<Item>(options: {
  concurrency: number
  next: () => Item | undefined
  work: (item: Item) => Promise<void>
  onIdle: () => void
}): Workers {
  const { concurrency, next, work, onIdle } = options
  const ended = createCondition()
  let working = 0

  async function run(): Promise<void> {
    working++
    for (let item = next(); item !== undefined; item = next()) await work(item)
    working--
    if (working > 0) return
    onIdle()
    ended.changed()
  }

  return {
    wake() {
      if (working < concurrency) void run()
    },
    idle: () => (working === 0 ? Promise.resolve() : ended.wait()),
  }
}
