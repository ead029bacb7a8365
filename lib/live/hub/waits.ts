import type { CloseReason } from '../../context.ts'
import type { Delivery } from '../readers/delivery.ts'
import type { Reader } from '../readers/reader.ts'

/**
 * How long a stream stays open after the first event that it waited for. What follows from that event and is sent only
 * once, such as a notification, comes with it: from another process within 200 ms.
 */
const LINGER_MS = 250

interface Wait {
  hasEvents: boolean
  timer: NodeJS.Timeout | undefined
}

/** The streams that end by themselves: with what their readers missed, or else with the first event, or after a time. */
export function createWaits(deps: { close: (reader: Reader, reason: CloseReason) => void }) {
  const waits = new Map<Reader, Wait>()

  function endAfter(ms: number, reader: Reader, wait: Wait): void {
    clearTimeout(wait.timer)
    wait.timer = setTimeout(deps.close, ms, reader, 'caught_up').unref()
  }

  return {
    /** Watches what a reader is sent from now on, unless its stream stays open. */
    add(reader: Reader): void {
      if (reader.wait_ms === undefined) return
      const { sink } = reader
      const wait: Wait = { hasEvents: false, timer: undefined }
      waits.set(reader, wait)
      reader.sink = {
        ...sink,
        write(delivery) {
          sink.write(delivery)
          // The last event of a stream is sent when it is closed.
          if (reader.closed || wait.hasEvents || !hasNews(delivery)) return
          wait.hasEvents = true
          if (wait.timer) endAfter(LINGER_MS, reader, wait)
        },
      }
    },

    /** Ends the stream of a reader that has got what it missed, now or when an event comes. */
    begin(reader: Reader): void {
      const wait = waits.get(reader)
      if (!wait) return
      if (wait.hasEvents || !reader.wait_ms) deps.close(reader, 'caught_up')
      else endAfter(reader.wait_ms, reader, wait)
    },

    leave(reader: Reader): void {
      clearTimeout(waits.get(reader)?.timer)
      waits.delete(reader)
    },
  }
}

/** Whether a client can use a delivery at once: events, or another position than the one that it gave. */
function hasNews({ events: [first, second] }: Delivery): boolean {
  return first !== undefined && (first.event.type !== 'stream.ready' || second?.event.type === 'stream.reset')
}
