import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { uuidv7 } from 'uuidv7'

/** A new identifier: a UUIDv7 in lower case, so that ids sort by the time they were made (RFC 9562). */
export function newId(): string {
  return uuidv7()
}

/** 32 random bytes in base64url, 43 characters: for sessions, CSRF, invites, keys and resets. */
export function newToken(): string {
  return randomBytes(32).toString('base64url')
}

/** The SHA-256 of a token, in base64url: all that is stored of it, so a stolen database opens nothing. */
export function digest(token: string): string {
  return hash('sha256', token, 'base64url')
}

/** A short name for something, the same for the same text: 16 hexadecimal digits. */
export function fingerprint(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 16)
}

/** Whether two digests are the same, in a time that does not tell where they differ. */
export function sameDigest(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/** Microseconds since 1970, the unit of every stored instant. */
export function currentMicros(): number {
  return Date.now() * 1000
}

/** A stored instant in words: RFC 3339, UTC, with microseconds. */
export function toInstant(micros: number): string {
  const millis = Math.floor(micros / 1000)
  const rest = String(micros - millis * 1000).padStart(3, '0')
  return `${new Date(millis).toISOString().slice(0, -1)}${rest}Z`
}

/** Microseconds since 1970 of an RFC 3339 instant; digits beyond microseconds are dropped. */
export function fromInstant(instant: string): number {
  const [, seconds, fraction = '', zone] = /^(.{19})(?:\.(\d+))?(.+)$/.exec(instant)!
  return Date.parse(`${seconds}${zone}`) * 1000 + Number(fraction.slice(0, 6).padEnd(6, '0'))
}

/** One second in microseconds. */
export const SECOND = 1_000_000
