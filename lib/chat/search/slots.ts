import { createSlots, type Release } from '../../core/scheduling/slots.ts'

/** The maximum number of waiting searches: further ones could hardly begin before their deadline. */
const MAX_WAITING = 100

/** The maximum number of waiting searches of one caller. */
const MAX_WAITING_PER_USER = 20

/** Lets a few searches run at a time, of which one caller has only some; further ones wait in the order of arrival. */
export type SearchSlots = ReturnType<typeof createSearchSlots>

/**
 * @param max how many searches run at a time
 * @param perKey how many of them one caller can have
 */
export function createSearchSlots(max: number, perKey: number) {
  const slots = createSlots({ max, perKey, maxWaiting: MAX_WAITING, maxWaitingPerKey: MAX_WAITING_PER_USER })
  return {
    /** @returns what ends a search; `undefined` if it cannot begin before the deadline, a time of `performance.now` */
    acquire(caller: string, deadline: number): Promise<Release | undefined> {
      const signal = AbortSignal.timeout(Math.max(0, Math.ceil(deadline - performance.now())))
      return slots.acquire(caller, { signal, line: 'all' }).catch(() => undefined)
    },
  }
}
