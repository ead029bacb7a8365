// A login without a package and without a table: a cookie with the person's id, a time, and a signature.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { SECRET } from './people.ts'

const LIFETIME_SECONDS = 8 * 3600
const ATTRIBUTES = 'Path=/; HttpOnly; SameSite=Lax'

/** The `Set-Cookie` line of a person who has signed in. */
export function signedIn(id: string): string {
  const value = `${id}.${Math.floor(Date.now() / 1000) + LIFETIME_SECONDS}`
  return `login=${value}.${sign(value)}; Max-Age=${LIFETIME_SECONDS}; ${ATTRIBUTES}`
}

/** The `Set-Cookie` line of a person who has signed out. */
export const SIGNED_OUT = `login=; Max-Age=0; ${ATTRIBUTES}`

/** The id of the person who is signed in, from a `Cookie` header. */
export function readLogin(cookies: string | null | undefined): string | undefined {
  const [, value, id, expires, signature] = /(?:^|; )login=(([\w-]+)\.(\d+))\.([\w-]+)/.exec(cookies ?? '') ?? []
  if (!value || !signature || Number(expires) < Date.now() / 1000) return undefined
  const [given, right] = [signature, sign(value)].map((text) => Buffer.from(text))
  return given!.length === right!.length && timingSafeEqual(given!, right!) ? id : undefined
}

function sign(value: string): string {
  return createHmac('sha256', SECRET).update(value).digest('base64url')
}
