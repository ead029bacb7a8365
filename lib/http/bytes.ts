import type { IncomingMessage } from 'node:http'
import { readChunks } from '../core/body.ts'
import { ChatError } from '../core/errors.ts'
import type { BytesBody } from '../endpoint.ts'
import type { BodySource } from './body.ts'

/** @throws ChatError `payload_too_large`, `unsupported_media_type`; the body stays unread */
export function assertBytesAcceptable(headers: Headers, { bytes }: BytesBody): void {
  if (Number(headers.get('content-length') ?? 0) > bytes) throw new ChatError('payload_too_large')
  const type = (headers.get('content-type') ?? '').split(';', 1)[0]!.trim().toLowerCase()
  const encoding = (headers.get('content-encoding') ?? 'identity').trim().toLowerCase()
  if (type !== 'application/octet-stream' || encoding !== 'identity')
    throw new ChatError('unsupported_media_type', { message: 'Send the bytes as application/octet-stream.' })
}

/**
 * The bytes of a body, in a buffer of their length.
 *
 * @throws ChatError `validation_failed` unless they are as many as the buffer has; `request_timeout`
 */
export async function readBytes(
  { body, headers }: { body: BodySource; headers: Headers },
  { buffer, seconds }: { buffer: Uint8Array; seconds: number },
): Promise<Uint8Array> {
  const { length } = buffer
  const announced = headers.get('content-length')
  if (announced !== null && Number(announced) !== length) throw wrongLength(length)
  const filled = fill(buffer)
  if (body === null) return filled.result()
  if ('getReader' in body) {
    if (body.locked) throw wrongLength(length)
    return readWeb(body, filled, seconds)
  }
  if (body.readableEnded) {
    filled.add(readAlready(body))
    return filled.result()
  }
  // The client left before anything was read: no event of the request says so any more.
  if (body.destroyed) return filled.result()
  return readNode(body, filled, seconds)
}

/** Fills a buffer piece by piece, to its end. */
function fill(buffer: Uint8Array) {
  const { length } = buffer
  let at = 0
  return {
    add(chunk: Uint8Array): void {
      if (at + chunk.length > length) throw wrongLength(length)
      buffer.set(chunk, at)
      at += chunk.length
    },
    result(): Uint8Array {
      if (at !== length) throw wrongLength(length)
      return buffer
    },
  }
}

async function readWeb(body: ReadableStream<Uint8Array>, filled: Filled, seconds: number): Promise<Uint8Array> {
  const late = AbortSignal.timeout(seconds * 1000)
  const chunks = readChunks(body, late)
  for (;;) {
    // The runtime says in its own way that the client has left.
    const next = await chunks.next().catch(() => undefined)
    if (late.aborted) throw new ChatError('request_timeout')
    if (!next || next.done) return filled.result()
    try {
      filled.add(next.value)
    } catch (error) {
      await chunks.return(undefined)
      throw error
    }
  }
}

type Filled = ReturnType<typeof fill>

function readNode(request: IncomingMessage, filled: Filled, seconds: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    // Not `for await`: leaving such a loop early would cut the connection before the answer.
    const done = (settle: () => void) => {
      clearTimeout(timer)
      // It keeps flowing: what a refused request still sends is read and dropped while it is answered.
      request.off('data', onData).off('end', onEnd).off('error', onEnd).off('close', onEnd)
      settle()
    }
    const attempt = (step: () => void) => {
      try {
        step()
      } catch (error) {
        done(() => reject(error))
      }
    }
    const onData = (chunk: Buffer) => attempt(() => filled.add(chunk))
    const onEnd = () => attempt(() => done(resolveWith(filled.result())))
    const resolveWith = (bytes: Uint8Array) => () => resolve(bytes)
    const timer = setTimeout(() => done(() => reject(new ChatError('request_timeout'))), seconds * 1000)
    request.on('data', onData).on('end', onEnd).on('error', onEnd).on('close', onEnd)
  })
}

/** A body that a parser of the host has read. @throws ChatError unless it left the bytes */
function readAlready(request: IncomingMessage): Uint8Array {
  const { body, rawBody = body } = request as { body?: unknown; rawBody?: unknown }
  if (rawBody instanceof Uint8Array) return rawBody
  throw new ChatError('validation_failed', {
    message: 'The application has read the body before the chat, and left no bytes.',
  })
}

function wrongLength(length: number): ChatError {
  return new ChatError('validation_failed', {
    errors: [{ path: '', message: `must be exactly ${length} bytes` }],
  })
}
