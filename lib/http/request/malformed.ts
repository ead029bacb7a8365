import type { IncomingMessage } from 'node:http'
import type { H3Event } from 'h3'
import { MAX_LENGTH } from '../../core/lengths.ts'

/** The maximum number of headers of a request. */
export const MAX_HEADERS = 100

/**
 * Why a request may be parsed differently by the service and by a proxy in front of it; Node accepts these.
 *
 * Node silently drops headers beyond its maximum: the `X-Forwarded-For` that a proxy appended could be missing, and one
 * from the client would be trusted.
 *
 * @returns the status of the refusal; `undefined` for a valid request
 */
export function statusOfMalformed({ rawHeaders, headers, httpVersion }: IncomingMessage): 400 | 431 | undefined {
  if (rawHeaders.length > 2 * MAX_HEADERS) return 431
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  // RFC 9112, 3.2: several are refused whatever their values.
  if (hosts > 1) return 400
  const coding = headers['transfer-encoding']
  // RFC 9112, 6.1: parsers that disagree about the end of a body allow request smuggling.
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || httpVersion !== '1.1')) return 400
  return undefined
}

/** As {@link statusOfMalformed}, from any runtime: a host that mounts the app bypasses the service's own handler. */
export function statusOfMalformedEvent({ req, runtime }: H3Event): 400 | 431 | undefined {
  const incoming = runtime?.node?.req as IncomingMessage | undefined
  if (incoming) return statusOfMalformed(incoming)
  let count = 0
  for (const [, value] of req.headers) if (++count > MAX_HEADERS || value.length > MAX_LENGTH.header) return 431
  return undefined
}

/** Scheme and host of an absolute request target (RFC 9112, section 3.2.2). */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i

/** Needless escapes (RFC 3986, section 2.3): of letters, digits, `-`, `.`, `_` and `~`. */
const NEEDLESS_ESCAPE = /%(?:2[DE]|3\d|[46][1-9A-F]|[57][\dA]|5F|7E)/i

/**
 * Whether a path has its plain spelling. The rules of a proxy compare the path as it was sent: another spelling of
 * `/metrics` would bypass them.
 *
 * @param isRoot whether it is the root of the service, which may end with a slash at any mount path
 */
export function isPlainlySpelled({ req, runtime }: H3Event, isRoot: boolean): boolean {
  const incoming = runtime?.node?.req as (IncomingMessage & { originalUrl?: string }) | undefined
  // A host that strips its mount path keeps the complete one in another property, as Express and Connect do.
  const target = incoming ? (incoming.originalUrl ?? incoming.url ?? '') : req.url.replace(/#.*$/s, '')
  return isPlainTarget(target, isRoot)
}

/** Most targets, which need no closer look. */
const PLAIN = /^(?:\/[\w-]+)+(?:\?|$)/

export function isPlainTarget(target: string, isRoot: boolean): boolean {
  if (target.length > MAX_LENGTH.header) return false
  if (PLAIN.test(target)) return true
  const [path = ''] = target.replace(ORIGIN, '').split('?', 1)
  if (/[\\#]/.test(path) || NEEDLESS_ESCAPE.test(path)) return false
  const segments = path.split('/').slice(1)
  if (isRoot && segments.at(-1) === '') segments.pop()
  return !segments.some((segment) => segment === '' || segment === '.' || segment === '..')
}
