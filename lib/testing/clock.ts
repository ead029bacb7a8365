import { currentMicros } from '../core/time.ts'
import type { Micros } from '../storage/sql.ts'

/** The clock of a test chat. It decides every instant and every expiry; timers run in real time. */
export interface TestClock {
  now(): Date
  /** Moves the clock forward. @throws RangeError for a negative or endless time */
  advance(seconds: number): void
}

/** @param heldAt where the clock stands still; without it, it runs */
export function createTestClock(heldAt: string | undefined): TestClock & { micros(): Micros } {
  const held = heldAt === undefined ? undefined : Date.parse(heldAt) * 1000
  if (Number.isNaN(held)) throw new TypeError(`The clock "${heldAt}" is not an instant like 2026-01-31T12:00:00Z`)
  let advanced = 0
  const micros = () => (held ?? currentMicros()) + advanced
  return {
    micros,
    now: () => new Date(micros() / 1000),
    advance(seconds) {
      if (!(seconds >= 0 && seconds < Number.POSITIVE_INFINITY))
        throw new RangeError(`${seconds} is no time to advance`)
      advanced += Math.round(seconds * 1_000_000)
    },
  }
}
