import { setImmediate as nextTurn } from 'node:timers/promises'

const encoder = new TextEncoder()

/** How much is made at a time, in characters, before others have their turn. */
const AT_A_TIME = 16_384

/**
 * An answer in pieces: an event of JSON for each, then `[DONE]`, as clients of OpenAI read it.
 *
 * Pieces are made when they are about to be read, so what a slow reader has not taken costs no memory.
 */
export function streamPieces(pieces: Iterable<unknown>): ReadableStream<Uint8Array> {
  const iterator = pieces[Symbol.iterator]()
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      await nextTurn()
      let text = ''
      while (text.length < AT_A_TIME) {
        const { value, done } = iterator.next()
        text += `data: ${done ? '[DONE]' : JSON.stringify(value)}\n\n`
        if (!done) continue
        controller.enqueue(encoder.encode(text))
        controller.close()
        return
      }
      controller.enqueue(encoder.encode(text))
    },
    cancel: () => void iterator.return?.(),
  })
}
