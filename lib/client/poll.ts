import type { ConversationStreamEvent } from '../api/events.ts'
import { pause } from './backoff.ts'
import { parseEvents } from './event-stream.ts'
import type { StreamTransport, TextStream } from './transport.ts'
import type { ReceivedEvent } from './types.ts'

/** After this time a poll has reached the service. It shows nothing before its end, but gets all events from then on. */
const ARRIVAL_MS = 1_000

/**
 * What a poll that waits for events begins with, which its response does not show before its end: the position and the
 * count. None if it ends soon. What it misses, ephemeral events before its arrival, is read again as at the start of a
 * stream.
 */
export async function arrivalOf(
  opening: Promise<TextStream>,
  open: StreamTransport['open'],
  path: string,
  headers: Record<string, string>,
): Promise<ReceivedEvent[]> {
  const arrival = new AbortController()
  opening.finally(() => arrival.abort()).catch(() => {})
  await pause(ARRIVAL_MS, arrival.signal)
  return arrival.signal.aborted ? [] : peek(open(path, headers, arrival.signal, 0))
}

/** The position and the count with which a response begins; none if there is no response. */
async function peek(opening: Promise<TextStream>): Promise<ReceivedEvent[]> {
  const received: ReceivedEvent[] = []
  try {
    for await (const { id, data } of parseEvents((await opening).texts)) {
      const event = JSON.parse(data) as ConversationStreamEvent
      if (event.type === 'stream.ready') received.push({ id: id!, event })
      else if (event.type === 'notifications.count') received.push({ event })
    }
  } catch {
    // The poll has ended before, or fails as well.
  }
  return received
}
