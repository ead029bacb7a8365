import type { GuestPlaces } from '../context.ts'
import { SECOND } from '../core/units.ts'
import { lockAndCountGuests } from './store.ts'

/** A process adds this part of the free places, and at most so many guests, for so long, before it counts again. */
const PART = 1 / 100
const MAX_UNCOUNTED = 100
const UNCOUNTED_TIME = 10 * SECOND

/**
 * Holds to `guests.max` without counting all guests for each new one. While many places are free, a process gives out a
 * hundredth of them after each count: as many more than the maximum may come if another process fills the rest meanwhile.
 * Near the maximum each guest is counted.
 */
export function createGuestPlaces(now: () => number): GuestPlaces {
  let uncounted = 0
  let counted_at = 0
  return {
    async take(tx, max) {
      if (uncounted > 0 && now() - counted_at < UNCOUNTED_TIME) {
        uncounted--
        return true
      }
      const free = max - (await lockAndCountGuests(tx))
      uncounted = Math.max(0, Math.min(MAX_UNCOUNTED, Math.floor(free * PART)) - 1)
      counted_at = now()
      return free > 0
    },
  }
}
