import { RpcError } from './failures.ts'

/** What a client reads. */
export interface Accepted {
  json: boolean
  events: boolean
}

/**
 * The formats of responses that a client reads; without the header, any.
 *
 * @throws RpcError 406 for a client that reads neither JSON nor event streams
 */
export function readAccept(headers: Pick<Headers, 'get'>): Accepted {
  const header = headers.get('accept')
  if (header === null) return { json: true, events: true }
  const ranges = header.split(',').map(toRange)
  const takes = (type: string) => {
    const [main] = type.split('/')
    return ranges.some((range) => range === type || range === `${main}/*` || range === '*/*')
  }
  const accepted = { json: takes('application/json'), events: takes('text/event-stream') }
  if (!accepted.json && !accepted.events) throw notAcceptable('Accept application/json or text/event-stream.')
  return accepted
}

/** A media range in lower case, or nothing for one that is refused (RFC 9110, section 12.5.1). */
function toRange(text: string): string | undefined {
  const [range = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
  return parameters.some((parameter) => /^q\s*=\s*0(\.0*)?$/.test(parameter)) ? undefined : range
}

/** A response that the client does not read. */
export function notAcceptable(message: string): RpcError {
  return new RpcError(406, message, { status: 406, data: { code: 'not_acceptable' } })
}
