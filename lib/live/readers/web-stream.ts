import type { Sink } from './reader.ts'

/** How much a web stream hands over at once: its reader takes a whole piece, so only the pieces show its progress. */
const PIECE_BYTES = 64 * 1024

/** How long a reader that must disconnect may read the rest; then the connection is closed. */
export const FAREWELL_TIMEOUT_MS = 5_000

/** What a stream sends as a web stream. @param begin comes first */
export function toWebStream(
  { connect }: { connect(sink: Sink): () => void },
  begin?: Uint8Array,
): ReadableStream<Uint8Array> {
  let leave = () => {}
  let drained = () => {}
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        if (begin) controller.enqueue(begin)
        leave = connect(webSink(controller, (resolve) => (drained = resolve)))
      },
      pull: () => drained(),
      cancel() {
        leave()
        drained()
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: 0 }),
  )
}

function webSink(
  controller: ReadableStreamDefaultController<Uint8Array>,
  onDrain: (resolve: () => void) => void,
): Sink {
  const pending = () => -(controller.desiredSize ?? 0)
  let ended = false
  return {
    write({ bytes }) {
      for (let at = 0; at < bytes.length && !ended; at += PIECE_BYTES)
        controller.enqueue(bytes.subarray(at, at + PIECE_BYTES))
    },
    pending,
    progress: () => (pending() > 0 ? String(pending()) : undefined),
    drained: () => (pending() > 0 && !ended ? new Promise(onDrain) : Promise.resolve()),
    end() {
      if (ended) return
      ended = true
      try {
        controller.close()
        // Otherwise what the client does not read stays in memory until its runtime closes the connection.
        setTimeout(
          () => controller.error(new Error('The client did not read the end of its stream')),
          FAREWELL_TIMEOUT_MS,
        ).unref()
      } catch {
        // The reader has cancelled: the stream is already closed.
      }
    },
    abort() {
      if (ended) return
      ended = true
      controller.error(new Error('The stream was broken off: it has no end'))
    },
  }
}
