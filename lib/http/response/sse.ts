import type { ServerResponse } from 'node:http'
import type { Opening } from '../../chat/events/service.ts'
import { EVENT_STREAM, formatRetry } from '../../core/sse-format.ts'
import { FAREWELL_TIMEOUT_MS, toWebStream } from '../../live/readers/web-stream.ts'
import type { StreamWrites } from '../node/stream-writes.ts'
import { type HeaderPair, writeHead } from './headers.ts'
import { progressOf } from './stalls.ts'

/** How long a client should wait before it reconnects. */
const RETRY = Buffer.from(formatRetry(2_000))

/** The headers of an event stream: those of every response, and its own. No proxy and no middleware compresses or keeps it. */
export function streamHeaders(common: readonly HeaderPair[], own?: Opening['headers']): HeaderPair[] {
  const others = common.filter(([name]) => name !== 'cache-control')
  return own
    ? [...others, ...FRAMES_HEADERS, ...own.map(([...pair]): HeaderPair => pair)]
    : [...others, ...STREAM_HEADERS]
}

const STREAM_HEADERS: readonly HeaderPair[] = [
  ['content-type', EVENT_STREAM],
  ['cache-control', 'no-store, no-transform'],
  ['x-accel-buffering', 'no'],
]

/** Clients of protocols look for `no-cache`. */
const FRAMES_HEADERS: readonly HeaderPair[] = [
  ['content-type', EVENT_STREAM],
  ['cache-control', 'no-store, no-cache, no-transform'],
  ['x-accel-buffering', 'no'],
]

/**
 * Writes a stream directly to a Node response, bytes that all readers share.
 *
 * Events go without chunked encoding, which would cost a copy per reader; the end of the connection is the end of the stream.
 *
 * @returns a promise that is pending until the response closes: otherwise h3 would end it earlier
 */
export function streamToNode(
  response: ServerResponse,
  headers: readonly HeaderPair[],
  opening: Opening,
  writes: StreamWrites,
): Promise<void> {
  const { socket } = response.req
  // Closed before its stream begins: no 'close' event follows.
  if (response.destroyed || socket.destroyed) {
    opening.cancel()
    return Promise.resolve()
  }
  // Frames of a protocol have a last one. Without chunks, and on a connection that closes behind the response, clients take a
  // stream that is broken off for one that ends: Node's `fetch` does so even with chunks.
  const isFramed = opening.headers !== undefined
  if (!isFramed) {
    response.useChunkedEncodingByDefault = false
    response.shouldKeepAlive = false
  }
  writeHead(response, 200, headers)
  if (isFramed) response.flushHeaders()
  else response.write(RETRY)
  response.on('error', () => {})
  // A stalled reader is detected by its pending bytes and its progress; a timeout would cost a timer at every write.
  socket.setTimeout(0)
  // Without framing the socket sends the same bytes with a fifth less CPU time.
  const out = !isFramed && response.req.httpVersionMajor === 1 && response.socket ? socket : response

  const output = writes.open(out)
  let drained = () => {}
  const onDrain = () => drained()
  out.on('drain', onDrain)
  const leave = opening.connect({
    write: ({ bytes }) => output.write(bytes),
    pending: output.pending,
    drained() {
      output.flush()
      return out.writableNeedDrain && !response.destroyed
        ? new Promise((resolve) => (drained = resolve))
        : Promise.resolve()
    },
    progress: () => progressOf(socket),
    end() {
      output.flush()
      response.end()
      setTimeout(() => response.destroy(), FAREWELL_TIMEOUT_MS).unref()
    },
    abort: () => void response.destroy(),
  })
  return new Promise((resolve) => {
    const onClose = () => {
      socket.off('close', onClose)
      out.off('drain', onDrain)
      leave()
      output.close()
      drained()
      resolve()
    }
    response.once('close', onClose)
    // A pipelined response that waits behind another one does not emit its own end.
    socket.once('close', onClose)
  })
}

/** Sends a stream as a web response, for every other runtime. */
export function streamToWeb(headers: readonly HeaderPair[], opening: Opening): Response {
  const stream = toWebStream(opening, opening.headers ? undefined : RETRY)
  return new Response(stream, { headers: [...headers] })
}
