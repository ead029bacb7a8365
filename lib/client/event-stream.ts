import { readText } from '../core/body.ts'
import { createEventReader, type WireEvent } from '../core/sse-format.ts'

/**
 * More than the longest answer (16 MiB) with every character escaped: the stream fails if an event does not end before.
 */
const MAX_EVENT_LENGTH = 100 * 1024 * 1024

/**
 * The events in the text of a stream.
 *
 * @param onRetry called with the milliseconds to wait before reconnecting
 * @throws RangeError for an event longer than any of the service
 */
export async function* parseEvents(
  texts: AsyncIterable<string> | string[],
  onRetry?: (ms: number) => void,
): AsyncGenerator<WireEvent> {
  const read = createEventReader(MAX_EVENT_LENGTH, onRetry)
  for await (const text of texts) yield* read(text)
}

/** The events of a stream. @throws RangeError as {@link parseEvents} */
export function readEvents(bytes: ReadableStream<Uint8Array>): AsyncGenerator<WireEvent> {
  return parseEvents(readText(bytes))
}
