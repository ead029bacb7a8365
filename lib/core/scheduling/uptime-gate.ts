/**
 * Tells how long work that repeats has succeeded without a gap. A process that could not reach the database itself must
 * not take the others for dead at once: they may have been cut off as well.
 *
 * @param options.silence_ms after so long without a report, others are taken for dead
 * @param options.interval_ms the interval of the work, and of the reports
 * @returns a function to call when the work has succeeded; it returns whether the others have had `silence_ms` for a
 *   report since the last gap
 */
export function createUptimeGate({ dead_after_ms, interval_ms }: { dead_after_ms: number; interval_ms: number }) {
  // A report may be an interval older than the beginning of the gap, and come an interval after its end.
  const gap_ms = Math.max(dead_after_ms - 2 * interval_ms, 2 * interval_ms)
  let last = Number.POSITIVE_INFINITY
  let steady_since = Number.NEGATIVE_INFINITY

  return (): boolean => {
    const now = performance.now()
    if (now - last > gap_ms) steady_since = now
    last = now
    return now - steady_since >= dead_after_ms
  }
}
