import { LONGEST } from './lengths.ts'

/**
 * The value of a cookie in a `Cookie` header. `undefined` when it is missing, and when it occurs twice with different
 * values: one of them may come from a neighbouring host (cookie tossing).
 */
export function readCookie(header: string | null | undefined, name: string): string | undefined {
  if (!header || header.length > LONGEST.header) return undefined
  let found: string | undefined
  for (const part of header.split(';')) {
    const pair = part.trim()
    if (!pair.startsWith(`${name}=`)) continue
    const value = pair.slice(name.length + 1)
    if (found !== undefined && found !== value) return undefined
    found = value
  }
  return found
}

/**
 * The token of an `Authorization: Bearer` header; `undefined` without one, and for other schemes, which are not
 * supported. The scheme is case-insensitive (RFC 9110, section 11.1). A header that is too long has an empty token.
 */
export function bearerOf(authorization: string | null): string | undefined {
  if (authorization !== null && authorization.length > LONGEST.header) return ''
  const [scheme, ...token] = (authorization ?? '').trim().split(/\s+/)
  return scheme?.toLowerCase() === 'bearer' ? token.join(' ') : undefined
}

/** Response fields that are sent as headers, and are fields again in the client. */
export const HEADER_FIELDS = {
  stream_position: 'Stream-Position',
  idempotency_replayed: 'Idempotency-Replayed',
} as const
