import type { Actor, Scope } from '../../core/actor.ts'
import { readSigned, type SigningKeys, signText } from '../../core/signed-text.ts'
import { DEFAULT_SECONDS, MAX_TICKET_SECONDS, type TokenInput } from './schema.ts'

/** The prefix of every token that the service issues. */
export const TOKEN_PREFIX = 'ct_'

/** The use of the secret that signs tokens. */
export const TOKENS = 'chat-server tokens'

/** What a token was made with, and ends with: at most one of them. */
export type Maker = Pick<Actor, 'session_id' | 'key_id'>

/** What a token contains. Times in microseconds since 1970. */
export interface TokenClaims extends Maker {
  user_id: string
  scopes: readonly Scope[]
  /** When the login was proved that the token was made with: what ends logins up to this instant ends the token. */
  issued_at: number
  expires_at: number
  /** When the token that it was made with expires, if there is one: what a ticket has opened ends then. */
  until?: number
}

/** A token that only the holder of the key can make. */
export function signToken(keys: SigningKeys, claims: TokenClaims): string {
  const { user_id, scopes, issued_at, expires_at, until = '', session_id = '', key_id = '' } = claims
  return TOKEN_PREFIX + signText(keys, [user_id, scopes, issued_at, expires_at, until, session_id, key_id].join(' '))
}

/** The claims of a token; `undefined` if it was made with none of these keys. Whether it is still valid is not checked. */
export function readToken(keys: SigningKeys, token: string): TokenClaims | undefined {
  if (!token.startsWith(TOKEN_PREFIX)) return undefined
  const text = readSigned(keys, token.slice(TOKEN_PREFIX.length))
  if (text === undefined) return undefined
  const parts = text.split(' ') as [string, string, string, string, string, string, string]
  const [user_id, scopes, issued_at, expires_at, until, session_id, key_id] = parts
  return {
    user_id,
    scopes: scopes.split(',') as Scope[],
    issued_at: Number(issued_at),
    expires_at: Number(expires_at),
    ...(until && { until: Number(until) }),
    ...(session_id && { session_id }),
    ...(key_id && { key_id }),
  }
}

/** Whether a token with these scopes opens streams, and nothing else: it may be in a URL. */
export function isTicket(scopes: readonly Scope[]): boolean {
  return scopes.every((scope) => scope === 'stream')
}

/** How many seconds a token lives. @returns `undefined` where it is a ticket that would live for too long */
export function lifeOf({ ttl_seconds, scopes }: TokenInput): number | undefined {
  if (!scopes || !isTicket(scopes)) return ttl_seconds ?? DEFAULT_SECONDS
  const seconds = ttl_seconds ?? MAX_TICKET_SECONDS
  return seconds <= MAX_TICKET_SECONDS ? seconds : undefined
}
