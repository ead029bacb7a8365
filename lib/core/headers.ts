import { MAX_HEADER_LENGTH } from './lengths.ts'

/**
 * The cookies of a `Cookie` header by name. One that has several values is left out: one of them may come from a
 * neighbouring host (cookie tossing).
 */
export function readCookies(header: string | null | undefined): ReadonlyMap<string, string> {
  const cookies = new Map<string, string>()
  if (!header || header.length > MAX_HEADER_LENGTH) return cookies
  let ambiguous: string[] | undefined
  for (const part of header.split(';')) {
    const pair = part.trim()
    const end = pair.indexOf('=')
    if (end < 0) continue
    const [name, value] = [pair.slice(0, end), pair.slice(end + 1)]
    if ((cookies.get(name) ?? value) !== value) {
      ambiguous ??= []
      ambiguous.push(name)
    }
    cookies.set(name, value)
  }
  for (const name of ambiguous ?? []) cookies.delete(name)
  return cookies
}

/**
 * The token of an `Authorization: Bearer` header; `undefined` without one, and for other schemes, which are not
 * supported. The scheme is case-insensitive (RFC 9110, section 11.1). A header that is too long has an empty token.
 */
export function parseBearer(authorization: string | null): string | undefined {
  if (authorization === null) return undefined
  if (authorization.length > MAX_HEADER_LENGTH) return ''
  const [scheme, ...token] = authorization.trim().split(/\s+/)
  return scheme?.toLowerCase() === 'bearer' ? token.join(' ') : undefined
}

/** Headers of an answer that a use-case sets by a field of its result; in the client they are that field again. */
export const RESULT_HEADERS = {
  'Stream-Position': 'stream_position',
  'Idempotency-Replayed': 'idempotency_replayed',
} as const

/** The name and the value of a configured header, `Name: value`. */
export function splitHeader(header: string): [name: string, value: string] {
  const colon = header.indexOf(':')
  return [header.slice(0, colon), header.slice(colon + 1).trim()]
}

/** Configured headers by their names, in lower case. */
export function lowerNamed(headers: readonly string[] = []): Record<string, string> {
  return Object.fromEntries(headers.map(splitHeader).map(([name, value]) => [name.toLowerCase(), value]))
}
