import type { ServerResponse } from 'node:http'
import { fromNodeHandler, type H3Event, HTTPResponse } from 'h3'
import type { Opening } from '../../chat/events/service.ts'
import type { ResponseBatch, WholeBody } from '../node/response-batch.ts'
import type { StreamWrites } from '../node/stream-writes.ts'
import { type HeaderPair, writeHead } from './headers.ts'
import { answerUnread, hasUnreadBody } from './linger.ts'
import type { Reply } from './serialize.ts'
import { streamToNode, streamToWeb } from './sse.ts'

/** Starts a stream, as the runtime supports it; a HEAD request gets only the headers. */
export function openStream(
  event: H3Event,
  headers: readonly HeaderPair[],
  cookies: readonly string[],
  opening: Opening,
  writes: StreamWrites,
): unknown {
  if (event.req.method === 'HEAD') {
    opening.cancel()
    return send(event, { status: 200, headers, cookies, body: null })
  }
  const response = event.runtime?.node?.res as Unawaited | undefined
  if (!response) return streamToWeb([...headers, ...cookieLines(cookies)], opening)
  for (const cookie of cookies) response.appendHeader('set-cookie', cookie)
  if (!isUnawaited(response)) return fromNodeHandler(() => streamToNode(response, headers, opening, writes))(event)
  void streamToNode(response, headers, opening, writes)
  return new Promise(() => {})
}

const TURN = Symbol('turn')

type Unawaited = ServerResponse & { [TURN]?: ResponseBatch }

/**
 * Notes that no caller waits until the request has been handled. The handling of a stream then never ends: an unreachable
 * promise is garbage, and with it all that handled the request, while a promise that the end of the stream resolves would
 * keep that in memory for as long as the stream is open.
 *
 * @param turn that in which the request was read
 */
export function leaveUnawaited(response: ServerResponse, turn: ResponseBatch): void {
  ;(response as Unawaited)[TURN] = turn
}

/** Whether {@link leaveUnawaited} noted that of a response. */
export function isUnawaited(response: ServerResponse): boolean {
  return (response as Unawaited)[TURN] !== undefined
}

/**
 * Writes a reply to Node's response. The adapter of the runtime would write the body and end with a callback alone, which
 * middleware of a host that wraps `end`, as express-session and compression do, takes for the body.
 */
function sendToNode(
  response: ServerResponse,
  turn: ResponseBatch,
  { status, headers, body: given }: Reply & { body: WholeBody },
): void {
  // The host has sent a response of its own, as middleware for timeouts does.
  if (response.headersSent) return
  const body = typeof given === 'string' && given.length >= LONG ? encode(given) : given
  const length =
    body === null || status === 204 ? [] : [['content-length', String(Buffer.byteLength(body))] as HeaderPair]
  writeHead(response, status, [...headers, ...length])
  turn.end(response, response.req.method === 'HEAD' ? null : body)
}

/** Node counts the bytes of a string twice before it encodes them, which takes long beyond Latin-1. */
const LONG = 16 * 1024
const VERY_LONG = 1024 * 1024

/** Room for the longest text that is encoded in one pass. Made when it is needed first. */
let room: Buffer | undefined

/** A text in UTF-8, encoded in one pass. */
function encode(text: string): Buffer {
  if (text.length > VERY_LONG) return Buffer.from(text)
  room ??= Buffer.allocUnsafeSlow(3 * VERY_LONG)
  // A copy of its own size: a slow client may leave it waiting.
  return Buffer.from(room.subarray(0, room.write(text)))
}

/** A response whose headers stay a list of pairs: on Node no `Headers` object is needed. */
class Answer extends HTTPResponse {
  readonly #pairs: readonly HeaderPair[]

  constructor({ status, headers, body }: Reply) {
    super(body as BodyInit | null, { status })
    this.#pairs = headers
  }

  override get headers(): Headers {
    return this.#pairs as unknown as Headers
  }
}

const cookieLines = (cookies: readonly string[]) => cookies.map((cookie): HeaderPair => ['set-cookie', cookie])

/** Passes a reply to the runtime. */
export function send(event: H3Event, { status, headers, cookies = [], body }: Reply): unknown {
  const response = event.runtime?.node?.res as Unawaited | undefined
  // Node 20 keeps only the last of several cookies in a list, if a host has set a header before.
  if (response) for (const cookie of cookies) response.appendHeader('set-cookie', cookie)
  const lines = response ? [] : cookieLines(cookies)
  const reply: Reply = { status, headers: lines.length > 0 ? [...headers, ...lines] : headers, body }
  if (response && hasUnreadBody(response.req)) return fromNodeHandler(() => answerUnread(response, reply))(event)
  const turn = response?.[TURN]
  if (turn && !(body instanceof ReadableStream)) {
    sendToNode(response, turn, { ...reply, body })
    return new Promise(() => {})
  }
  return new Answer(reply)
}
