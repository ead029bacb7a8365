import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Reply } from './reply.ts'

/** A body that is announced to be no longer is read to its end, for the sake of the connection. */
const SMALL_BYTES = 64 * 1024

/** How much of a body is read that nobody wants: more than proxies send on as a rule. */
const LINGER_BYTES = 16 * 1024 * 1024

/** How long it is read; who has not taken the answer by then will not. */
const LINGER_MS = 5_000

/** Whether something of a body is still to come, or has not been looked at. */
export function hasUnreadBody({ complete, headers, httpVersionMajor }: IncomingMessage): boolean {
  if (complete || httpVersionMajor !== 1) return false
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/**
 * Answers a request whose body is still being sent, and then reads on for a while what nobody wants.
 *
 * To close a connection with something unread resets it, and a reset takes the answer from a client, or a proxy, that
 * has not read it yet (RFC 9112, 9.6). The answer goes out whole and at once; only its end waits.
 */
export function answerUnread(response: ServerResponse, { status, headers, body }: Reply): Promise<void> {
  const request = response.req
  if (!(Number(request.headers['content-length']) <= SMALL_BYTES)) response.shouldKeepAlive = false
  const bytes = typeof body === 'string' ? Buffer.from(body) : body instanceof Uint8Array ? body : new Uint8Array()
  const hasLength = status !== 204 && request.method !== 'HEAD'
  const length = hasLength ? ['content-length', String(bytes.length)] : []
  response.writeHead(status, [...headers.flat(), ...length])
  if (bytes.length === 0) response.flushHeaders()
  else response.write(bytes)

  return new Promise((resolve) => {
    let left = LINGER_BYTES
    const timer = setTimeout(end, LINGER_MS)
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
