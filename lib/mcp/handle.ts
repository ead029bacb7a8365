import type { Context } from '../context.ts'
import type { Actor } from '../core/actor.ts'
import { readAtMost } from '../core/body.ts'
import { ChatError } from '../core/errors.ts'
import { assertBodyAcceptable, parseJson, utf8 } from '../core/json-body.ts'
import { EVENT_STREAM } from '../core/sse-format.ts'
import { toWebStream } from '../live/readers/web-stream.ts'
import { readAccept } from './accept.ts'
import { answerMcp, type StreamedReply, type WholeReply } from './answer.ts'
import { toRpcFailure } from './failures.ts'

/** How large a request may be. */
export const BODY_LIMITS = { bytes: 512 * 1024, entries: 10_000 }

/**
 * Responds to a request of MCP for an actor, in an application that has the endpoint at an address of its own and knows its
 * callers. Where it has pages, it refuses requests of other origins before. Limits of `POST /mcp` are not counted, those of
 * the routes that the tools stand for are.
 */
export async function handle(ctx: Context, request: Request, actor: Actor): Promise<Response> {
  const request_id = ctx.id()
  try {
    if (request.method !== 'POST') throw new ChatError('method_not_allowed')
    assertBodyAcceptable(request.headers, BODY_LIMITS)
    readAccept(request.headers)
    const { bytes, isWhole } = await readAtMost(request.body, BODY_LIMITS.bytes)
    if (!isWhole) throw new ChatError('payload_too_large')
    const body = parseJson(() => utf8.decode(bytes), BODY_LIMITS)
    const { headers, signal } = request
    const reply = await answerMcp(ctx, { headers, body, actor, request_id, signal })
    return 'open' in reply ? toStream(reply) : toWhole(reply)
  } catch (error) {
    const failure = toRpcFailure(error, { request_id })
    return toWhole({ ...failure, headers: { ...failure.headers, ...(failure.status === 405 && { allow: 'POST' }) } })
  }
}

function toWhole({ status, headers, body }: WholeReply): Response {
  if (body === undefined) return new Response(null, { status, headers })
  return new Response(JSON.stringify(body), { status, headers: { ...headers, 'content-type': 'application/json' } })
}

/** The headers of an event stream, which no proxy keeps or compresses. */
const STREAM_HEADERS = {
  'content-type': EVENT_STREAM,
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
}

/** A stream as a response. What its client does not read in time is not sent meanwhile. */
export function toStream(reply: StreamedReply): Response {
  const encoder = new TextEncoder()
  const body = toWebStream({
    connect: ({ write, end, pending, drained, progress }) =>
      reply.open({
        write: (text) => write({ bytes: encoder.encode(text), events: [] }),
        end,
        pending,
        drained,
        ...(progress && { progress }),
      }),
  })
  return new Response(body, { headers: STREAM_HEADERS })
}
