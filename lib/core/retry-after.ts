import { DAY, SECOND } from './units.ts'

/** The longest pause that a server may ask for. */
const MAX_PAUSE = DAY

/**
 * Until when a server wants no calls, by its `Retry-After` (RFC 9110, section 10.2.3): seconds or a date. Instants are in
 * microseconds.
 *
 * @returns `undefined` for anything else, and for the past
 */
export function parseRetryAfter(text: string | null | undefined, now: number): number | undefined {
  if (text == null || text.length > 64) return undefined
  const at = /^\d{1,9}$/.test(text) ? now + Number(text) * SECOND : dateOf(text)
  return at !== undefined && at > now ? Math.min(at, now + MAX_PAUSE) : undefined
}

function dateOf(text: string): number | undefined {
  if (!/^[A-Z][a-z]{2,8}, .+ GMT$/.test(text)) return undefined
  const millis = Date.parse(text)
  return Number.isNaN(millis) ? undefined : millis * 1000
}
