import { createBackoff } from '../backoff.ts'
import type { ConversationStreamEvent } from '../types.ts'

/** More events during a reading than this are not kept: it is repeated. */
const MAX_MISSED = 5_000

/** One reading at a time, with the events that arrive meanwhile; those that are asked for meanwhile are one more. */
export function createReading(read: () => Promise<void>, refresh_ms: number) {
  let current: Promise<void> | undefined
  let isWanted = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let events: ConversationStreamEvent[] = []
  const backoff = createBackoff(refresh_ms)

  async function run(): Promise<void> {
    do {
      isWanted = false
      events = []
      await read()
    } while (isWanted)
    current = undefined
  }

  function now(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    isWanted = current !== undefined
    current ??= run()
    return current
  }

  return {
    now,
    /** In a while, together with others that are asked for until then; in ever longer ones after failures. */
    later(hasFailed = false) {
      if (!hasFailed) backoff.opened()
      timer ??= setTimeout(now, hasFailed ? backoff.next() : refresh_ms)
    },
    note(event: ConversationStreamEvent) {
      if (current && events.length < MAX_MISSED) events.push(event)
      else if (current) isWanted = true
    },
    missed: () => events,
    isIdle: () => !current && !timer,
    cancel() {
      clearTimeout(timer)
      timer = undefined
    },
  }
}
