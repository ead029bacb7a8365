import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { fromNodeHandler, type H3Event } from 'h3'
import type { FileAnswer } from '../../chat/attachments/content.ts'
import { type HeaderPair, writeHead } from './headers.ts'
import { isUnawaited } from './send.ts'

/** The headers of a file: its own replace the common ones of that name. */
export function fileHeaders(common: readonly HeaderPair[], { headers, length, status }: FileAnswer): HeaderPair[] {
  const own = Object.entries({ ...headers, ...(status !== 304 && { 'content-length': String(length) }) })
  const names = new Set(own.map(([name]) => name))
  return [...common.filter(([name]) => !names.has(name)), ...own]
}

/** Bytes of which the first ones are read, if the answer has a body. */
export type BegunFile = FileAnswer & { body: AsyncIterator<Uint8Array> | undefined }

/**
 * Reads the first bytes of a file. A HEAD request gets only the headers.
 *
 * @throws ChatError `rate_limited` for a user who reads too many files
 */
export async function beginFile(event: H3Event, file: FileAnswer): Promise<BegunFile> {
  if (event.req.method === 'HEAD' || file.status === 304) return { ...file, body: undefined }
  const rest = file.bytes[Symbol.asyncIterator]()
  let first: IteratorResult<Uint8Array> | undefined = await rest.next()
  const body: AsyncIterator<Uint8Array> = {
    async next() {
      const read = first ?? (await rest.next())
      first = undefined
      return read
    },
    async return() {
      await rest.return?.()
      return { value: undefined, done: true }
    },
  }
  return { ...file, body }
}

/** Sends a file, as the runtime supports it. */
export function sendFile(event: H3Event, headers: readonly HeaderPair[], file: BegunFile): unknown {
  const response = event.runtime?.node?.res as ServerResponse | undefined
  if (!response)
    return new Response(file.body ? toWeb(file.body, file.signal) : null, {
      status: file.status,
      headers: [...headers],
    })
  const work = () => toNode(response, headers, file)
  if (!isUnawaited(response)) return fromNodeHandler(work)(event)
  void work()
  return new Promise(() => {})
}

/** Writes as fast as the client reads: one piece is being sent, the next one is being read. */
async function toNode(
  response: ServerResponse,
  headers: readonly HeaderPair[],
  { status, body, signal }: BegunFile,
): Promise<void> {
  const closed = new AbortController()
  const onClose = () => closed.abort()
  response.once('close', onClose).on('error', () => {})
  // A pipelined response that waits behind another one does not emit its own end.
  response.req.socket.once('close', onClose)
  // It has lost its place: what it has not taken would stay in memory.
  const onEnd = () => response.destroy()
  signal?.addEventListener('abort', onEnd)
  try {
    if (response.destroyed || response.req.socket.destroyed) return
    writeHead(response, status, headers)
    for (;;) {
      const piece = await body?.next()
      if (!piece || piece.done) break
      if (closed.signal.aborted) return
      if (!response.write(piece.value)) await once(response, 'drain', { signal: closed.signal })
    }
    response.end()
  } catch {
    // The client has left, or the rest cannot be read: a length was promised, so the connection must not continue.
    response.destroy()
  } finally {
    response.req.socket.off('close', onClose)
    signal?.removeEventListener('abort', onEnd)
    // Also without a first step: what the reader has, others may have now.
    await body?.return?.().catch(() => {})
  }
}

function toWeb(body: AsyncIterator<Uint8Array>, signal?: AbortSignal): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        signal?.addEventListener('abort', () => {
          controller.error(signal.reason)
          void body.return?.()
        })
      },
      async pull(controller) {
        const { value, done } = await body.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: async () => void (await body.return?.()),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: 0 }),
  )
}
