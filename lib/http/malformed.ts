import type { IncomingMessage } from 'node:http'
import type { H3Event } from 'h3'
import { LONGEST } from '../core/lengths.ts'

/** How many headers a request may have. */
export const MAX_HEADERS = 100

/**
 * Why a request cannot be trusted to mean the same to us and to a proxy before us; Node lets these pass.
 *
 * Further headers than it is to take Node drops without a word: the `X-Forwarded-For` that a proxy has added at the end
 * would be missing, and one that the client has sent would be believed.
 *
 * @returns the status to refuse it with; nothing when it is in order
 */
export function refusalOf({ rawHeaders, headers, httpVersion }: IncomingMessage): 400 | 431 | undefined {
  if (rawHeaders.length > 2 * MAX_HEADERS) return 431
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  // RFC 9112, 3.2: several are refused whatever they say.
  if (hosts > 1) return 400
  const coding = headers['transfer-encoding']
  // RFC 9112, 6.1: an end of the body that only some find is how a request is hidden in another one.
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || httpVersion !== '1.1')) return 400
  return undefined
}

/** The same of a request from any runtime: a host that mounts the app calls no handler of ours. */
export function refusalOfEvent({ req, runtime }: H3Event): 400 | 431 | undefined {
  const incoming = runtime?.node?.req as IncomingMessage | undefined
  if (incoming) return refusalOf(incoming)
  let count = 0
  for (const [, value] of req.headers) if (++count > MAX_HEADERS || value.length > LONGEST.header) return 431
  return undefined
}

/** Scheme and host of a target that has them (RFC 9112, section 3.2.2). */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i

/** Escapes of what needs none (RFC 3986, section 2.3): letters, digits, `-`, `.`, `_` and `~`. */
const NEEDLESS_ESCAPE = /%(?:2[DE]|3\d|[46][1-9A-F]|[57][\dA]|5F|7E)/i

/**
 * Whether a request has the one spelling of its path. A proxy with a rule on a path looks at what was sent: with another
 * spelling of `/metrics` the rule would not hold.
 *
 * @param isRoot whether it is the root of the service, which a mount may have at any path with a slash at its end
 */
export function isPlainlySpelled({ req, runtime }: H3Event, isRoot: boolean): boolean {
  const incoming = runtime?.node?.req as (IncomingMessage & { originalUrl?: string }) | undefined
  // A host that cuts off the path of a mount keeps the whole one beside it, as Express and Connect do.
  const target = incoming ? (incoming.originalUrl ?? incoming.url ?? '') : req.url.replace(/#.*$/s, '')
  return isPlainTarget(target, isRoot)
}

export function isPlainTarget(target: string, isRoot: boolean): boolean {
  if (target.length > LONGEST.header) return false
  const [path = ''] = target.replace(ORIGIN, '').split('?', 1)
  if (/[\\#]/.test(path) || NEEDLESS_ESCAPE.test(path)) return false
  const segments = path.split('/').slice(1)
  if (isRoot && segments.at(-1) === '') segments.pop()
  return !segments.some((segment) => segment === '' || segment === '.' || segment === '..')
}
