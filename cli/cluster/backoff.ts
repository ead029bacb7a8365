/** A process that lived for this long did not die of its start. */
const YOUNG_MS = 30_000

const FIRST_MS = 1_000
const MAX_MS = 30_000

/**
 * How long to wait before a process is replaced: not at all, unless it died young; then longer each time.
 *
 * @param previous the wait before that process was started; 0 for the first one
 */
export function nextDelay(previous: number, lifetimeMs: number): number {
  if (lifetimeMs >= YOUNG_MS) return 0
  return Math.min(MAX_MS, Math.max(FIRST_MS, previous * 2))
}
