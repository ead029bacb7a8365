import { setImmediate as nextTurn } from 'node:timers/promises'
import { ChatError } from '../core/errors.ts'
import { formatEvent } from '../core/event-stream.ts'
import { networkOf } from '../limits/rules.ts'

const encoder = new TextEncoder()

/** How much is made at a time, in characters, before others have their turn. */
const AT_A_TIME = 16_384

/** How many answers in pieces may be under way at once, to one address and to all, and how long each may take. */
const STREAMS = { per_address: 4, in_all: 100, seconds: 60 }

/** Answers in pieces, as many at once as may be. */
export type PieceStreams = ReturnType<typeof createPieceStreams>

/** Counts the answers in pieces that are under way in this process. */
export function createPieceStreams(limits = STREAMS) {
  const open = new Map<string, number>()
  let all = 0

  return {
    /**
     * Begins one.
     *
     * @param address of the client; those whose address is unknown count as one, and so does a network of IPv6
     * @throws ChatError `too_many_streams` to one address, `unavailable` in all
     */
    begin(pieces: Iterable<unknown>, address = ''): ReadableStream<Uint8Array> {
      const network = networkOf(address)
      const own = open.get(network) ?? 0
      if (own >= limits.per_address) throw new ChatError('too_many_streams', { retry_after_seconds: 1 })
      if (all >= limits.in_all) throw new ChatError('unavailable', { retry_after_seconds: 1 })
      open.set(network, own + 1)
      all++
      return streamPieces(pieces, {
        seconds: limits.seconds,
        over() {
          all--
          const left = open.get(network)! - 1
          if (left > 0) open.set(network, left)
          else open.delete(network)
        },
      })
    },
  }
}

/**
 * An answer in pieces: an event of JSON for each, then `[DONE]`, as clients of OpenAI read it.
 *
 * Pieces are made when they are about to be read, so what a slow reader has not taken costs no memory.
 *
 * @param end.over is called once, however it ends
 */
export function streamPieces(
  pieces: Iterable<unknown>,
  end: { seconds: number; over: () => void } = { ...STREAMS, over() {} },
): ReadableStream<Uint8Array> {
  const iterator = pieces[Symbol.iterator]()
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
      while (text.length < AT_A_TIME) {
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
