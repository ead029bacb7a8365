import { DAY, SECOND } from './units.ts'

/** The clock of this machine in microseconds since 1970. A service has a better one, `ctx.now`, and judges no instant by this. */
export function currentMicros(): number {
  return Date.now() * 1000
}

/** The clock of this machine in milliseconds since 1970, for what lives in this process or in files of this machine. */
export function currentMillis(): number {
  return Date.now()
}

/** A clock that never steps, in microseconds since some moment of this process. */
export function monotonicMicros(): number {
  return Math.round(performance.now() * 1000)
}

/** A stored instant as text: RFC 3339, UTC, with microseconds. */
export function toInstant(micros: number): string {
  const day = Math.floor(micros / DAY)
  const rest = micros - day * DAY
  const fraction = rest % SECOND
  const seconds = (rest - fraction) / SECOND
  const minutes = Math.floor(seconds / 60)
  const time = `${TWO_DIGITS[Math.floor(minutes / 60)]}:${TWO_DIGITS[minutes % 60]}:${TWO_DIGITS[seconds % 60]}`
  return `${dateOf(day)}T${time}.${String(fraction).padStart(6, '0')}Z`
}

/** The texts of requested days: `Date` takes several times as long, and most instants are of few days. */
const dates = new Map<number, string>()
const MAX_DATES = 1_000

/** @param day counted from 1970 */
function dateOf(day: number): string {
  const known = dates.get(day)
  if (known !== undefined) return known
  const [date = ''] = new Date((day * DAY) / 1000).toISOString().split('T')
  if (dates.size >= MAX_DATES) dates.clear()
  dates.set(day, date)
  return date
}

/** Microseconds since 1970 of an RFC 3339 instant; digits beyond microseconds are dropped. */
export function fromInstant(instant: string): number {
  const [, seconds, fraction = '', zone] = /^(.{19})(?:\.(\d+))?(.+)$/.exec(instant)!
  return Date.parse(`${seconds}${zone}`) * 1000 + Number(fraction.slice(0, 6).padEnd(6, '0'))
}

const TWO_DIGITS = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'))
