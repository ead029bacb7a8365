import type { IncomingMessage } from 'node:http'
import type { Config } from '../../config/parse.ts'
import { readChunks } from '../../core/body.ts'
import { ChatError } from '../../core/errors.ts'
import type { BytesBody } from '../../endpoint.ts'
import type { BodySource } from './body.ts'

/**
 * Before the caller is known. A free body is judged as it is read: the limit of what takes it counts those that are too long.
 *
 * @throws ChatError `payload_too_large`, `unsupported_media_type`; the body stays unread
 */
export function assertBytesAcceptable(headers: Headers, { bytes, is_free }: BytesBody, config: Config): void {
  const maximum = typeof bytes === 'number' ? bytes : bytes(config)
  if (!is_free && Number(headers.get('content-length') ?? 0) > maximum) throw new ChatError('payload_too_large')
  const type = (headers.get('content-type') ?? '').split(';', 1)[0]!.trim().toLowerCase()
  const encoding = (headers.get('content-encoding') ?? 'identity').trim().toLowerCase()
  if ((type !== 'application/octet-stream' && !is_free) || encoding !== 'identity')
    throw new ChatError('unsupported_media_type', { message: 'Send the bytes as application/octet-stream.' })
}

/** How a body is read. */
interface Reading {
  /** As long as the body has to be; a free one may be shorter. */
  buffer: Uint8Array
  is_free?: true
  /** How long the body may take. */
  seconds: number
  /** Ends the reading, with its reason. */
  signal: AbortSignal
  /** Called with the number of bytes of each piece. */
  onBytes?: (count: number) => void
}

/**
 * The bytes of a body, in a buffer of their length.
 *
 * @throws ChatError `validation_failed` unless they are as many as the buffer has, `payload_too_large` for a free body with more;
 *   `request_timeout`; the reason of `signal`
 */
export async function readBytes(
  { body, headers }: { body: BodySource; headers: Headers },
  { buffer, seconds, is_free, signal, onBytes }: Reading,
): Promise<Uint8Array> {
  const { length } = buffer
  const announced = headers.get('content-length')
  if (announced !== null && Number(announced) !== length && !is_free) throw wrongLength(length)
  if (announced !== null && Number(announced) > length) throw new ChatError('payload_too_large')
  signal.throwIfAborted()
  const isOpen = is_free === true && announced === null
  const filled = fill(is_free && !isOpen ? buffer.subarray(0, Number(announced)) : buffer, { isOpen, onBytes })
  if (body === null) return filled.result(true)
  if ('getReader' in body) {
    if (body.locked) throw wrongLength(length)
    return readWeb(body, filled, { seconds, signal })
  }
  if (body.readableEnded) {
    filled.add(readAlready(body))
    return filled.result(true)
  }
  // The client left before anything was read: no event of the request will report it.
  if (body.destroyed) return filled.result(false)
  return readNode(body, filled, { seconds, signal })
}

/** Fills a buffer piece by piece: to its end, or as far as a body of no announced length goes. */
function fill(
  buffer: Uint8Array,
  { isOpen, onBytes }: { isOpen: boolean; onBytes?: ((count: number) => void) | undefined },
) {
  const { length } = buffer
  let at = 0
  return {
    add(chunk: Uint8Array): void {
      if (at + chunk.length > length) throw isOpen ? new ChatError('payload_too_large') : wrongLength(length)
      buffer.set(chunk, at)
      at += chunk.length
      onBytes?.(chunk.length)
    },
    /** @param isWhole whether the body has ended, and was not cut off */
    result(isWhole: boolean): Uint8Array {
      if (isOpen ? !isWhole : at !== length) throw isOpen ? cutOff() : wrongLength(length)
      return buffer.subarray(0, at)
    },
  }
}

async function readWeb(
  body: ReadableStream<Uint8Array>,
  filled: Filled,
  { seconds, signal }: Pick<Reading, 'seconds' | 'signal'>,
): Promise<Uint8Array> {
  const over = new AbortController()
  const timer = setTimeout(() => over.abort(new ChatError('request_timeout')), seconds * 1000)
  const onStop = () => over.abort(signal.reason)
  signal.addEventListener('abort', onStop)
  const chunks = readChunks(body, over.signal)
  try {
    for (;;) {
      // The runtime reports in its own way that the client has left.
      const next = await chunks.next().catch(() => undefined)
      over.signal.throwIfAborted()
      if (!next || next.done) return filled.result(next !== undefined)
      filled.add(next.value)
    }
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onStop)
    await chunks.return(undefined)
  }
}

type Filled = ReturnType<typeof fill>

function readNode(
  request: IncomingMessage,
  filled: Filled,
  { seconds, signal }: Pick<Reading, 'seconds' | 'signal'>,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    // Not `for await`: leaving such a loop early would cut the connection before the answer.
    const done = (settle: () => void) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onStop)
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
    const onEnd = () => attempt(() => done(resolveWith(filled.result(request.complete))))
    const onStop = () => done(() => reject(signal.reason))
    const resolveWith = (bytes: Uint8Array) => () => resolve(bytes)
    const timer = setTimeout(() => done(() => reject(new ChatError('request_timeout'))), seconds * 1000)
    signal.addEventListener('abort', onStop)
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

function cutOff(): ChatError {
  return new ChatError('validation_failed', { errors: [{ path: '', message: 'must be whole' }] })
}

function wrongLength(length: number): ChatError {
  return new ChatError('validation_failed', {
    errors: [{ path: '', message: `must be exactly ${length} bytes` }],
  })
}
