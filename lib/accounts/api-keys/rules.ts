import { LONGEST } from '../../core/schema.ts'

/** What every API key begins with, so that one that got lost can be told from other secrets. */
export const KEY_PREFIX = 'cs_'

/**
 * The token of an `Authorization: Bearer` header; `undefined` without one, and for other schemes, which mean nothing
 * here. The scheme is not case-sensitive (RFC 9110, section 11.1). A header too long to be read has a token of nothing.
 */
export function bearerOf(authorization: string | null): string | undefined {
  if (authorization !== null && authorization.length > LONGEST.header) return ''
  const [scheme, ...token] = (authorization ?? '').trim().split(/\s+/)
  return scheme?.toLowerCase() === 'bearer' ? token.join(' ') : undefined
}
