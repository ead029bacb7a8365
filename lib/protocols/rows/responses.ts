import type { Opening } from '../../chat/events/service.ts'
import { EVENT_STREAM } from '../../core/sse-format.ts'
import { toWebStream } from '../../live/readers/web-stream.ts'

/** A stream as a response, for a route of a host. One that is broken off fails. */
export function toResponse(opening: Opening): Response {
  const headers = [
    ['content-type', EVENT_STREAM],
    ['cache-control', 'no-cache'],
    ['x-accel-buffering', 'no'],
    ...(opening.headers ?? []),
  ].map(([name, value]): [string, string] => [name!, value!])
  return new Response(toWebStream(opening), { headers })
}
