import { ChatError } from '../core/chat-error.ts'
import { createBackoff, isTransient, pause } from './backoff.ts'
import { parseEvents } from './event-stream.ts'
import type { StreamTransport } from './transport.ts'
import type { ConversationStreamEvent, FollowOptions, ReceivedEvent } from './types.ts'

/** How long an open stream may send nothing at first: the service sends an event at once. */
const SILENCE_TIMEOUT_MS = 15_000

/** The least time between the starts of two polls, whatever the responses are. */
const MIN_POLL_MS = 250

/** A stream that its token has ended sooner is not opened again at once. */
const MIN_OPEN_MS = 5_000

/** The events of a stream, which is reopened where it broke off, until the service ends it. */
export async function* followStream(
  { open, wait_ms, renewToken }: StreamTransport,
  path: string,
  { last_event_id, signal, on_disconnect, on_silence, retry_ms }: FollowOptions & { retry_ms?: number | undefined },
): AsyncGenerator<ReceivedEvent> {
  let last = last_event_id
  let wasOpen = false
  const backoff = createBackoff(retry_ms)
  // Leaving the loop ends a request, too.
  const ending = new AbortController()
  const end = () => ending.abort()
  signal?.addEventListener('abort', end)
  try {
    while (!signal?.aborted) {
      let wait = 0
      let isRenewed = false
      const began = performance.now()
      const silence = on_silence && setTimeout(on_silence, SILENCE_TIMEOUT_MS + wait_ms)
      try {
        const headers = { accept: 'text/event-stream', ...(last !== undefined && { 'last-event-id': last }) }
        // Loaded where nothing streams, and before the request that it follows.
        const poll = wait_ms > 0 && (await import('./poll.ts'))
        // The first one asks for the position alone.
        const opening = open(path, headers, ending.signal, last ? undefined : 0)
        if (poll) yield* await poll.arrivalOf(opening, open, path, headers)
        const { texts, isFull } = await opening
        wasOpen = true
        backoff.opened()
        for await (const { id, data } of parseEvents(texts, backoff.setPause)) {
          clearTimeout(silence)
          const event = JSON.parse(data) as ConversationStreamEvent
          last = id ?? last
          isRenewed = event.type === 'stream.closed' && event.payload.reason === 'caught_up'
          if (isRenewed) break
          if (renewToken && event.type === 'stream.closed' && event.payload.reason === 'session_ended') {
            await renewToken()
            isRenewed = performance.now() - began > MIN_OPEN_MS
            break
          }
          yield id === undefined ? { event } : { id, event }
          // Others may have arrived with it.
          if (signal?.aborted) return
          if (
            event.type === 'stream.closed' &&
            (event.payload.reason === 'session_ended' || event.payload.reason === 'removed')
          )
            return
        }
        isRenewed ||= isFull()
      } catch (error) {
        if (signal?.aborted) return
        if (error instanceof ChatError) {
          // The end that the stream would have had, had the connection not been lost.
          if (wasOpen && (error.status === 401 || error.status === 404)) return
          // The lost stream may still occupy its place for a while.
          if (!isTransient(error) && !(wasOpen && error.code === 'too_many_streams')) throw error
          wait = (error.retry_after_seconds ?? 0) * 1000
        }
      } finally {
        clearTimeout(silence)
      }
      if (signal?.aborted) return
      if (isRenewed) {
        if (wait_ms > 0) await pause(began + MIN_POLL_MS - performance.now(), signal)
        continue
      }
      const pause_ms = backoff.next(wait)
      on_disconnect?.(pause_ms)
      await pause(pause_ms, signal)
    }
  } finally {
    signal?.removeEventListener('abort', end)
    end()
  }
}
