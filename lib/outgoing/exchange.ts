import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Route } from './connecting.ts'
import type { Connections } from './connections.ts'
import { type AnswerHead, OutgoingFailure } from './failure.ts'

/** What is read of a body that is forgotten, so that its connection serves again. */
const FORGOTTEN_BYTES = 4 * 1024

/** Answers like 103 before the one that counts. */
const MAX_INFORMATION = 8

/** One request, and what of its answer is read. */
export interface Exchange {
  method: string
  path: string
  headers: Record<string, string>
  body: string | undefined
  accepts: (status: number) => boolean
  /** `undefined`: the answer counts once its head is there; its body is read a little, and forgotten. */
  max_body: number | undefined
  /** How long a connection may take to be opened. */
  connect_ms: number | undefined
  signal: AbortSignal
  /** Called with what is still being read after the answer. It never rejects. */
  onRest: (reading: Promise<void>) => void
}

/** An answer with what was read of its body. */
export interface Answered extends AnswerHead {
  body: Uint8Array<ArrayBuffer>
  /** Whether the body was no larger than the caller reads. */
  is_whole: boolean
}

/** How far a request came. */
export interface Progress {
  /** Whether a connection was open, so that something may have been sent. */
  is_sent: boolean
}

/**
 * Sends a request over one route. If a kept connection ends before a byte of the answer, the request is sent again over a new
 * one: it was closed for its age, most likely.
 *
 * @throws OutgoingFailure
 */
export async function exchange(
  connections: Connections,
  route: Route,
  { progress, ...options }: Exchange & { progress: Progress },
): Promise<Answered> {
  for (;;) {
    const attempt = { ...progress, is_reused: false, is_answered: false }
    try {
      return await sendOnce(connections, route, options, attempt)
    } catch (error) {
      const isStale = attempt.is_reused && !attempt.is_answered && !options.signal.aborted
      if (!isStale || (error as OutgoingFailure).reason !== 'connect') throw error
      connections.dropIdle(route)
    } finally {
      progress.is_sent ||= attempt.is_sent
    }
  }
}

interface Attempt extends Progress {
  is_reused: boolean
  is_answered: boolean
}

function sendOnce(connections: Connections, route: Route, options: Exchange, attempt: Attempt): Promise<Answered> {
  const { method, path, headers, body, connect_ms, signal } = options
  const request = connections.request(route, { method, path, headers, connect_ms, signal })
  return new Promise((resolve, reject) => {
    let informed = 0
    request.on('socket', (socket) => {
      attempt.is_sent = true
      attempt.is_reused = request.reusedSocket
      // Before the parser, which may refuse it.
      socket.prependOnceListener('data', () => {
        attempt.is_answered = true
      })
    })
    request.on('information', () => {
      if (++informed > MAX_INFORMATION) request.destroy(new OutgoingFailure('protocol'))
    })
    request.on('response', (response) => resolve(readAnswer(request, response, options)))
    request.on('error', (error) => reject(failureOf(error, signal, attempt)))
    // Without an error it is closed when the answer switches protocols.
    request.on('close', () => reject(failureOf(undefined, signal, attempt)))
    request.end(body)
  })
}

function failureOf(error: Error | undefined, signal: AbortSignal, { is_answered }: Attempt): OutgoingFailure {
  if (signal.aborted) return new OutgoingFailure('timeout')
  if (error instanceof OutgoingFailure) return error
  return new OutgoingFailure(is_answered ? 'protocol' : 'connect', { cause: error })
}

async function readAnswer(
  request: ClientRequest,
  response: IncomingMessage,
  { accepts, max_body, signal, onRest }: Exchange,
): Promise<Answered> {
  const answer = { status: response.statusCode ?? 0, headers: headersOf(response) }
  const isAccepted = answer.status >= 200 && accepts(answer.status)
  if (!isAccepted || max_body === undefined) {
    onRest(forget(request, response))
    if (!isAccepted) throw new OutgoingFailure('status', { answer })
    return { ...answer, body: new Uint8Array(), is_whole: false }
  }
  try {
    return { ...answer, ...(await read(request, response, max_body)) }
  } catch (cause) {
    throw new OutgoingFailure(signal.aborted ? 'timeout' : 'protocol', { cause })
  }
}

async function forget(request: ClientRequest, response: IncomingMessage): Promise<void> {
  // The answer counts, however its body ends.
  await read(request, response, FORGOTTEN_BYTES).catch(() => {})
}

/** Reads `limit` bytes; a connection on which more comes is closed. */
async function read(request: ClientRequest, response: IncomingMessage, limit: number) {
  const chunks: Uint8Array[] = []
  let size = 0
  // A connection that breaks off says so by an error.
  for await (const chunk of response as AsyncIterable<Uint8Array>) {
    chunks.push(chunk)
    size += chunk.length
    if (size > limit) break
  }
  if (size > limit) request.destroy()
  return { body: new Uint8Array(Buffer.concat(chunks, Math.min(size, limit))), is_whole: size <= limit }
}

/** One value for each header: texts that came several times are joined, as the standard says. */
function headersOf({ headers }: IncomingMessage): AnswerHead['headers'] {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  )
}
