/**
 * Creates a queue that lets one of its entries continue in each turn of the event loop, in the order of arrival.
 *
 * SQLite reads are synchronous: without the queue, a thousand streams that resume at the same time would block every
 * other request until each of them has been sent its page.
 */
export function createTurns<Entry>() {
  const queue = new Map<Entry, () => void>()
  let isScheduled = false

  function schedule(): void {
    if (isScheduled || queue.size === 0) return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      const [first] = queue.keys()
      if (first !== undefined) leave(first)
      schedule()
    })
  }

  function leave(entry: Entry): void {
    const resolve = queue.get(entry)
    queue.delete(entry)
    resolve?.()
  }

  return {
    /** Resolves at the turn of the entry. An entry is in the queue once at a time. */
    wait: (entry: Entry): Promise<void> =>
      new Promise((resolve) => {
        queue.set(entry, resolve)
        schedule()
      }),
    /** Removes an entry from the queue: its wait ends at once, and it takes no turn of the others. */
    leave,
  }
}
