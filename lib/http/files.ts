import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { fromNodeHandler, type H3Event } from 'h3'
import type { FileAnswer } from '../chat/attachments/content.ts'
import { type HeaderPair, writeHead } from './headers.ts'
import { isUnawaited } from './send.ts'

/** The headers of a file: its own replace the common ones of that name. */
export function fileHeaders(common: readonly HeaderPair[], { headers, length, status }: FileAnswer): HeaderPair[] {
  const own = Object.entries({ ...headers, ...(status !== 304 && { 'content-length': String(length) }) })
  const names = new Set(own.map(([name]) => name))
  return [...common.filter(([name]) => !names.has(name)), ...own]
}

/** Sends a file, as the runtime supports it. A HEAD request gets only the headers. */
export function sendFile(event: H3Event, headers: readonly HeaderPair[], file: FileAnswer): unknown {
  const hasBody = event.req.method !== 'HEAD' && file.status !== 304
  const response = event.runtime?.node?.res as ServerResponse | undefined
  if (!response) return new Response(hasBody ? toWeb(file.bytes) : null, { status: file.status, headers: [...headers] })
  const work = () => toNode(response, headers, { ...file, hasBody })
  if (!isUnawaited(response)) return fromNodeHandler(work)(event)
  void work()
  return new Promise(() => {})
}

/** Writes as fast as the client reads: one piece is being sent, the next one is being read. */
async function toNode(
  response: ServerResponse,
  headers: readonly HeaderPair[],
  { status, bytes, hasBody }: FileAnswer & { hasBody: boolean },
): Promise<void> {
  const closed = new AbortController()
  const onClose = () => closed.abort()
  response.once('close', onClose).on('error', () => {})
  // A pipelined response that waits behind another one does not emit its own end.
  response.req.socket.once('close', onClose)
  try {
    if (response.destroyed || response.req.socket.destroyed) return
    writeHead(response, status, headers)
    if (hasBody)
      for await (const piece of bytes) {
        if (closed.signal.aborted) return
        if (!response.write(piece)) await once(response, 'drain', { signal: closed.signal })
      }
    response.end()
  } catch {
    // The client has left, or the rest cannot be read: a length was promised, so the connection must not go on.
    response.destroy()
  } finally {
    response.req.socket.off('close', onClose)
  }
}

function toWeb(bytes: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = bytes[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value, done } = await iterator.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: async () => void (await iterator.return?.()),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: 0 }),
  )
}
