import { setImmediate as nextTurn } from 'node:timers/promises'
import { ChatError } from '../../core/errors.ts'
import { createSlots } from '../../core/scheduling/slots.ts'
import { formatEvent } from '../../core/sse-format.ts'
import { toNetwork } from '../../limits/rules.ts'

const encoder = new TextEncoder()

/** How much text is produced at a time, in characters, before other work gets a turn. */
const PIECE_BYTES = 16_384

/** The maximum number of concurrent streams, per address and in all, and the maximum duration of each. */
const STREAMS = { per_address: 4, in_all: 100, seconds: 60 }

/** Chunk streams, limited in number. */
export type ChunkStreams = ReturnType<typeof createChunkStreams>

/** Counts the chunk streams of this process. */
export function createChunkStreams(limits = STREAMS) {
  const { per_address: perKey, in_all: max, seconds } = limits
  const slots = createSlots({ max, perKey })

  return {
    /**
     * Starts a stream.
     *
     * @param address of the client; all unknown addresses count as one, and so does a network of IPv6
     * @throws ChatError `too_many_streams` to one address, `unavailable` in all
     */
    begin(chunks: Iterable<unknown>, address = ''): ReadableStream<Uint8Array> {
      const network = toNetwork(address)
      if (slots.count(network).running >= perKey) throw new ChatError('too_many_streams', { retry_after_seconds: 1 })
      const over = slots.tryAcquire(network)
      if (!over) throw new ChatError('unavailable', { retry_after_seconds: 1 })
      return streamChunks(chunks, { seconds, over })
    },
  }
}

/**
 * A stream of chunks: a JSON event for each, then `[DONE]`, as OpenAI clients read it.
 *
 * Chunks are produced just before they are read, so a slow reader costs no memory.
 *
 * @param end.over called once, however it ends
 */
export function streamChunks(
  chunks: Iterable<unknown>,
  end: { seconds: number; over: () => void } = { ...STREAMS, over() {} },
): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.iterator]()
  let timer: NodeJS.Timeout | undefined
  function finish(): void {
    if (timer === undefined) return
    clearTimeout(timer)
    timer = undefined
    iterator.return?.()
    end.over()
  }

  return new ReadableStream<Uint8Array>({
    start(controller) {
      timer = setTimeout(() => {
        finish()
        controller.error(new Error('The answer was not read in time.'))
      }, end.seconds * 1000).unref()
    },
    async pull(controller) {
      await nextTurn()
      if (timer === undefined) return
      let text = ''
      while (text.length < PIECE_BYTES) {
        const { value, done } = iterator.next()
        text += formatEvent({ data: done ? '[DONE]' : JSON.stringify(value) })
        if (!done) continue
        controller.enqueue(encoder.encode(text))
        controller.close()
        finish()
        return
      }
      controller.enqueue(encoder.encode(text))
    },
    cancel: finish,
  })
}
