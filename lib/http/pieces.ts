const encoder = new TextEncoder()

/**
 * An answer in pieces: an event of JSON for each, then `[DONE]`, as clients of OpenAI read it.
 *
 * A piece is made when it is about to be read, so a slow reader costs no memory.
 */
export function streamPieces(pieces: Iterable<unknown>): ReadableStream<Uint8Array> {
  const iterator = pieces[Symbol.iterator]()
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      const { value, done } = iterator.next()
      controller.enqueue(encoder.encode(`data: ${done ? '[DONE]' : JSON.stringify(value)}\n\n`))
      if (done) controller.close()
    },
    cancel: () => void iterator.return?.(),
  })
}
