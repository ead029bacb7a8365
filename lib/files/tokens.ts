import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

/** The user that a link lets read a file, how, and until when. */
export interface LinkClaims {
  /** The attachment. */
  id: string
  user_id: string
  /** The session, or the API key, that requested the link: the link ends with it. Left out for a host's own sign-in. */
  session_id?: string
  key_id?: string
  /** Whether a browser may show the file instead of saving it. */
  inline: boolean
  /** Microseconds since 1970. */
  expires_at: number
}

/** Longer ones are not ours: no claims are read from them. */
const MAX_LENGTH = 600

/**
 * The key that signs links, from the secret of the service: other uses of the secret have other keys (RFC 5869).
 *
 * @param secret 32 random bytes
 */
export function linkKey(secret: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, '', 'chat-server links of files', 32))
}

/** A token that only the holder of the key can make. Its reader can read its claims, too: they are no secrets. */
export function signLink(key: Uint8Array, claims: LinkClaims): string {
  const { id, user_id, session_id = '', key_id = '', inline, expires_at } = claims
  const text = [id, user_id, session_id, key_id, inline ? 'inline' : '', String(expires_at)].join(' ')
  const body = Buffer.from(text).toString('base64url')
  return `${body}.${mac(key, body).toString('base64url')}`
}

/**
 * The claims of a token; `undefined` if it was not made with this key, or has expired. The right to read is not checked
 * here.
 *
 * @param now microseconds since 1970
 */
export function readLink(key: Uint8Array, token: string, now: number): LinkClaims | undefined {
  if (token.length > MAX_LENGTH) return undefined
  const [, body, signature] = /^([\w-]+)\.([\w-]{43})$/.exec(token) ?? []
  if (body === undefined || signature === undefined) return undefined
  const given = Buffer.from(signature, 'base64url')
  // The last character has two bits to spare: only the one form that was signed is taken.
  if (given.toString('base64url') !== signature || !timingSafeEqual(given, mac(key, body))) return undefined
  const [id, user_id, session_id, key_id, inline, expires] = Buffer.from(body, 'base64url').toString().split(' ')
  const expires_at = Number(expires)
  if (!id || !user_id || !(expires_at > now)) return undefined
  return {
    id,
    user_id,
    ...(session_id && { session_id }),
    ...(key_id && { key_id }),
    inline: inline === 'inline',
    expires_at,
  }
}

function mac(key: Uint8Array, body: string): Buffer {
  return createHmac('sha256', key).update(body).digest()
}
