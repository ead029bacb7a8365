/** After a longer time without a success a process is not ready. */
const LATE_MS = 2_000

/**
 * Tells whether work that is tried at intervals has not succeeded for a while. It counts intervals, not time: a busy event
 * loop is no failure of the work.
 */
export function createLateness(interval_ms: number) {
  let intervals = 0
  return {
    /** An interval has passed. */
    expect(): void {
      intervals++
    },
    /** The work has succeeded, or nothing needs it. */
    arrived(): void {
      intervals = 0
    },
    isLate: (): boolean => intervals * interval_ms > LATE_MS,
  }
}
