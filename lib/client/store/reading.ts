import { createBackoff } from '../backoff.ts'
import type { ConversationStreamEvent } from '../types.ts'

/** More events during a reading than this are not kept: it is repeated. */
const MAX_MISSED = 5_000

/**
 * Reads again what is known, and with `isMore` further.
 *
 * @param isCurrent whether what is known needs no reading again
 * @param causes the events because of which it is read; `undefined` if all of it may have changed
 */
export type Read = (
  isMore: boolean,
  isCurrent: boolean,
  causes: readonly ConversationStreamEvent[] | undefined,
) => Promise<void>

/** One reading at a time, with the events that arrive in it; all readings requested in that time are one more. */
export function createReading(read: Read, refresh_ms: number) {
  let current: Promise<void> | undefined
  let [isWanted, isMore, isCurrent] = [false, false, false]
  const causes = createCauses()
  const timer = createTimer(start)
  let events: ConversationStreamEvent[] = []
  const backoff = createBackoff(refresh_ms)

  async function run(): Promise<void> {
    do {
      isWanted = false
      events = []
      const reading = read(isMore, isMore && isCurrent, causes.take())
      isMore = false
      isCurrent = true
      await reading
    } while (isWanted)
    current = undefined
  }

  function doubt(): void {
    isCurrent = false
    causes.add()
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
    /** Reads later, together with others requested until then; after each failure it waits longer. */
    later(cause?: ConversationStreamEvent, { hasFailed = false } = {}) {
      isCurrent = false
      causes.add(cause)
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

/** Why something is read again: because of events, or for a reason that may have changed all of it. */
function createCauses() {
  let causes: ConversationStreamEvent[] | undefined
  return {
    add(cause?: ConversationStreamEvent) {
      if (cause) causes?.push(cause)
      else causes = undefined
    },
    /** @returns `undefined` if all of it may have changed */
    take() {
      const taken = causes
      causes = []
      return taken
    },
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
