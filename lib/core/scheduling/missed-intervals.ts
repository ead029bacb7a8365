/** After a longer time without a success a process is not ready. */
const LATE_MS = 2_000

/**
 * Tells whether work that is tried at intervals has not succeeded for a while. It counts intervals, not time: a busy event
 * loop is no failure of the work.
 */
export function createMissedIntervals(interval_ms: number) {
  let intervals = 0
  let arrived_at = performance.now()
  let acting = 0
  const arrived = (): void => {
    intervals = 0
    arrived_at = performance.now()
  }
  return {
    /** An interval has passed. */
    expect(): void {
      if (acting === 0) intervals++
    },
    /** The work has succeeded, or nothing needs it. */
    arrived,
    /** The work has succeeded. What it leads to may wait for a lock of others: until it is done, no interval counts. */
    async act(consequences: () => Promise<void>): Promise<void> {
      arrived()
      acting++
      try {
        await consequences()
      } finally {
        acting--
      }
    },
    /** How long ago it has last succeeded, in milliseconds; 0 while nothing is expected. */
    age: (): number => (intervals > 0 ? performance.now() - arrived_at : 0),
    isLate: (): boolean => intervals * interval_ms > LATE_MS,
  }
}
