import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import { MAX_LENGTH } from './lengths.ts'

/**
 * The key of one use of a secret: other uses have other keys (RFC 5869).
 *
 * @param secret 32 random bytes
 * @param use the name of the use
 */
export function deriveKey(secret: Uint8Array, use: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, '', use, 32))
}

/** The keys of one use: the first one signs, and what any of them signed is taken. */
export type SigningKeys = readonly [Uint8Array, ...Uint8Array[]]

/** A text that only the holder of the key can make, in characters of URLs. Its reader can read it, too: it is no secret. */
export function signText([key]: SigningKeys, text: string): string {
  const body = Buffer.from(text).toString('base64url')
  return `${body}.${mac(key, body).toString('base64url')}`
}

/** The text of a token; `undefined` if it was made with none of these keys. */
export function readSigned(keys: SigningKeys, token: string): string | undefined {
  // Longer ones are not ours.
  if (token.length > MAX_LENGTH.signed_token) return undefined
  const [, body, signature] = /^([\w-]+)\.([\w-]{43})$/.exec(token) ?? []
  if (body === undefined || signature === undefined) return undefined
  const given = Buffer.from(signature, 'base64url')
  // The last character has two bits to spare: only the one form that was signed is taken.
  if (given.toString('base64url') !== signature) return undefined
  if (!keys.some((key) => timingSafeEqual(given, mac(key, body)))) return undefined
  return Buffer.from(body, 'base64url').toString()
}

function mac(key: Uint8Array, body: string): Buffer {
  return createHmac('sha256', key).update(body).digest()
}
