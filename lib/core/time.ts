/** Microseconds since 1970, the unit of every stored instant. */
export function currentMicros(): number {
  return Date.now() * 1000
}

/** A stored instant as text: RFC 3339, UTC, with microseconds. */
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
