import type { MayContinue } from '../../core/scheduling/request-priority.ts'

/**
 * Creates a queue that lets one of its entries begin in each turn of the event loop, in the order of arrival. When they are
 * overdue, as many begin in the turn as may be at work: with one in each interval, thousands would wait for minutes.
 *
 * SQLite reads are synchronous: without the queue, a thousand streams that resume at the same time would block every
 * other request until each of them has been sent its page. On PostgreSQL they would all wait for connections.
 *
 * @param concurrency how many of the entries may be at work at the same time
 * @param mayContinue is asked in each turn while entries wait
 */
export function createEventLoopQueue<Entry>(concurrency: number, mayContinue: () => MayContinue = () => true) {
  const queue = new Map<Entry, (isTurn: boolean) => void>()
  let working = 0
  let isScheduled = false

  function schedule(): void {
    if (isScheduled || queue.size === 0 || working >= concurrency) return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      begin()
      schedule()
    })
  }

  function begin(): void {
    const go = queue.size > 0 && mayContinue()
    if (!go) return
    let most = go === 'overdue' ? concurrency - working : 1
    for (const [entry, start] of queue) {
      if (most-- === 0) return
      working++
      queue.delete(entry)
      start(true)
    }
  }

  return {
    /**
     * Runs `work` at the turn of the entry, which waits for one turn at a time.
     *
     * @returns its result; `undefined` if the entry leaves before its turn
     */
    async take<T>(entry: Entry, work: () => Promise<T>): Promise<T | undefined> {
      const isTurn = await new Promise<boolean>((resolve) => {
        queue.set(entry, resolve)
        schedule()
      })
      if (!isTurn) return undefined
      try {
        return await work()
      } finally {
        working--
        schedule()
      }
    },

    /** Removes an entry from the queue: its wait ends at once, and it takes no turn of the others. */
    leave(entry: Entry): void {
      const end = queue.get(entry)
      queue.delete(entry)
      end?.(false)
    },
  }
}
