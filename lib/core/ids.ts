import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { uuidv7 } from 'uuidv7'

/** A new identifier: a UUIDv7 in lower case, so that ids sort by creation time (RFC 9562). */
export function newId(): string {
  return uuidv7()
}

/** 32 random bytes in base64url, 43 characters: for sessions, CSRF, invites, keys and resets. */
export function newToken(): string {
  return randomBytes(32).toString('base64url')
}

/** The SHA-256 of a token, in base64url. Only this digest is stored, so a stolen database gives no access. */
export function digest(token: string): string {
  return hash('sha256', token, 'base64url')
}

/** A short digest of a text: 16 hexadecimal digits. */
export function fingerprint(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 16)
}

/** Compares two digests in constant time. */
export function sameDigest(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/** The id of nothing: what is looked up for a thing that does not exist, so that the answer takes as long. */
export const NO_ID = '00000000-0000-7000-8000-000000000000'
