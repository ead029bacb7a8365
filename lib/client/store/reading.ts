import { createBackoff } from '../backoff.ts'
import type { ConversationStreamEvent } from '../types.ts'

/** More events during a reading than this are not kept: it is repeated. */
const MAX_MISSED = 5_000

/**
 * One reading at a time, with the events that arrive meanwhile; those that are asked for meanwhile are one more.
 *
 * @param read reads again what is known, and with `isMore` further; `isCurrent` if what is known needs no reading again
 */
export function createReading(read: (isMore: boolean, isCurrent: boolean) => Promise<void>, refresh_ms: number) {
  let current: Promise<void> | undefined
  let [isWanted, isMore, isCurrent] = [false, false, false]
  const timer = createTimer(start)
  let events: ConversationStreamEvent[] = []
  const backoff = createBackoff(refresh_ms)

  async function run(): Promise<void> {
    do {
      isWanted = false
      events = []
      const reading = read(isMore, isMore && isCurrent)
      isMore = false
      isCurrent = true
      await reading
    } while (isWanted)
    current = undefined
  }

  function doubt(): void {
    isCurrent = false
  }

  function start(): Promise<void> {
    timer.cancel()
    isWanted = current !== undefined
    current ??= run()
    return current
  }

  return {
    now() {
      doubt()
      return start()
    },
    /** Further only, unless what is known is in doubt. */
    more() {
      isMore = true
      return start()
    },
    /** What is known has to be read again. */
    doubt,
    /** In a while, together with others that are asked for until then; in ever longer ones after failures. */
    later(hasFailed = false) {
      doubt()
      if (!hasFailed) backoff.opened()
      timer.set(hasFailed ? backoff.next() : refresh_ms)
    },
    note(event: ConversationStreamEvent) {
      if (current && events.length < MAX_MISSED) events.push(event)
      else if (current) isWanted = true
    },
    missed: () => events,
    isIdle: () => !current && !timer.isSet(),
    cancel: timer.cancel,
  }
}

/** Calls `fire` after the time that was set first. */
function createTimer(fire: () => void) {
  let timer: ReturnType<typeof setTimeout> | undefined
  return {
    set(ms: number) {
      timer ??= setTimeout(fire, ms)
    },
    isSet: () => timer !== undefined,
    cancel() {
      clearTimeout(timer)
      timer = undefined
    },
  }
}
