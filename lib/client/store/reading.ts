import { repeatIfCalled } from '../../core/scheduling/once.ts'
import { createTimer } from '../../core/scheduling/timer.ts'
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
  let events: ConversationStreamEvent[] = []
  let isMore = false
  const causes = createCauses()
  const timer = createTimer(start)
  const backoff = createBackoff(refresh_ms)

  const run = repeatIfCalled(async () => {
    events = []
    const news = causes.take()
    const reading = read(isMore, isMore && news?.length === 0, news)
    isMore = false
    await reading
  })

  function start(): Promise<void> {
    timer.cancel()
    return run()
  }

  return {
    now() {
      causes.add()
      return start()
    },
    /** Further only, unless what is known is in doubt. */
    more() {
      isMore = true
      return start()
    },
    /** What is known has to be read again. */
    doubt: () => causes.add(),
    /** Reads later, together with others requested until then; after each failure it waits longer. */
    later(cause?: ConversationStreamEvent, { hasFailed = false } = {}) {
      causes.add(cause)
      if (!hasFailed) backoff.opened()
      timer.set(hasFailed ? backoff.next() : refresh_ms)
    },
    note(event: ConversationStreamEvent) {
      if (!run.current()) return
      if (events.length < MAX_MISSED) events.push(event)
      else void run()
    },
    missed: () => events,
    isIdle: () => !run.current() && !timer.isSet(),
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
    /** @returns `undefined` if all of it may have changed; none if nothing has since the last call */
    take() {
      const reasons = causes
      causes = []
      return reasons
    },
  }
}
