import type { IncomingMessage, ServerResponse } from 'node:http'
import { type HeaderPair, writeHead } from './headers.ts'
import type { Reply } from './serialize.ts'

/** A body with at most this announced length is read to its end, to keep the connection. */
const SMALL_BYTES = 64 * 1024

/** How much of a refused body is read: more than proxies usually buffer. */
const MAX_LINGER_BYTES = 16 * 1024 * 1024

/** How long it is read; a client that has not read the response by then will not. */
const LINGER_TIMEOUT_MS = 5_000

/** Whether a part of a body is still to come, or unread. */
export function hasUnreadBody({ complete, headers, httpVersionMajor }: IncomingMessage): boolean {
  if (complete || httpVersionMajor !== 1) return false
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/**
 * Answers a request whose body is still being sent, and then reads and drops the rest for a while.
 *
 * Closing a connection with unread data resets it, and a reset discards the response for a client, or a proxy, that has
 * not read it yet (RFC 9112, 9.6). The response is sent completely and at once; only its end waits.
 */
export function answerUnread(response: ServerResponse, { status, headers, body }: Reply): Promise<void> {
  const request = response.req
  if (!(Number(request.headers['content-length']) <= SMALL_BYTES)) response.shouldKeepAlive = false
  const bytes = typeof body === 'string' ? Buffer.from(body) : body instanceof Uint8Array ? body : new Uint8Array()
  const hasLength = status !== 204 && request.method !== 'HEAD'
  const length: HeaderPair[] = hasLength ? [['content-length', String(bytes.length)]] : []
  writeHead(response, status, [...headers, ...length])
  if (bytes.length === 0) response.flushHeaders()
  else response.write(bytes)

  return new Promise((resolve) => {
    let left = MAX_LINGER_BYTES
    const timer = setTimeout(end, LINGER_TIMEOUT_MS)
    function end() {
      clearTimeout(timer)
      request.off('data', drop).off('end', end).off('close', end).off('error', end)
      response.end()
      resolve()
    }
    function drop(chunk: Buffer) {
      left -= chunk.length
      if (left < 0) end()
    }
    request.on('data', drop).on('end', end).on('close', end).on('error', end)
  })
}
