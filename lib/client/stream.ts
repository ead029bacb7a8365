import { ChatError } from '../core/chat-error.ts'
import { createBackoff, isTransient, pause } from './backoff.ts'
import { parseEvents } from './event-stream.ts'
import type { OpenStream } from './transport.ts'
import type { ConversationStreamEvent, FollowOptions, ReceivedEvent } from './types.ts'

/** How long an open stream may send nothing at first: the service sends an event at once. */
const SILENCE_TIMEOUT_MS = 15_000

/** The events of a stream, which is reopened where it broke off, until the service ends it. */
export async function* followStream(
  open: OpenStream,
  path: string,
  { last_event_id, signal, on_disconnect, on_silence, retry_ms }: FollowOptions & { retry_ms?: number | undefined },
): AsyncGenerator<ReceivedEvent> {
  let last = last_event_id
  let wasOpen = false
  const backoff = createBackoff(retry_ms)
  while (!signal?.aborted) {
    let wait = 0
    let isRenewed = false
    const silence = on_silence && setTimeout(on_silence, SILENCE_TIMEOUT_MS)
    try {
      const headers = { accept: 'text/event-stream', ...(last !== undefined && { 'last-event-id': last }) }
      const { texts, isFull } = await open(path, headers, signal)
      wasOpen = true
      backoff.opened()
      for await (const { id, data } of parseEvents(texts, backoff.setPause)) {
        clearTimeout(silence)
        const event = JSON.parse(data) as ConversationStreamEvent
        last = id ?? last
        yield id === undefined ? { event } : { id, event }
        // Others may have arrived with it.
        if (signal?.aborted) return
        if (
          event.type === 'stream.closed' &&
          (event.payload.reason === 'session_ended' || event.payload.reason === 'removed')
        )
          return
      }
      isRenewed = isFull()
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
    if (isRenewed) continue
    on_disconnect?.()
    await pause(backoff.next(wait), signal)
  }
}
