import { MINUTE, SECOND } from '../../core/units.ts'
import type { Presence } from '../conversations/schema.ts'

/** What one source knows of a user: a process with open streams of the user, or one that has received a heartbeat. */
export interface LastSeen {
  /** When the first of the streams that are open now was opened. */
  since?: number
  /** The status that the user has set, and when. */
  heartbeat?: { status: Presence['status']; at: number }
  /** When the user was last known to be there. */
  seen_at?: number
  /** The process has stopped: its users may be back elsewhere within {@link GRACE}. */
  leaving?: true
}

/** How long a heartbeat is valid without an open stream, in microseconds. */
export const LAPSE = MINUTE

/** A user who returns within this time was never away, in microseconds: a reload, or another network. */
export const GRACE = 5 * SECOND

/** Whether the status of a heartbeat is no longer valid for a user without an open stream. */
export function hasLapsed(at: number, now: number): boolean {
  return at + LAPSE <= now
}

/** Whether an instant is of a clock that was ahead and has stepped back since: it shows nothing of the user. */
export function isAhead(at: number, now: number): boolean {
  return at > now + LAPSE
}

/** Whether a user has an open stream that will be reported when it ends. */
export function isHere(lastSeen: readonly LastSeen[]): boolean {
  return lastSeen.some(({ since, leaving }) => since !== undefined && !leaving)
}

/**
 * The status of a user from all sources.
 *
 * With an open stream it is the last status that the user has set, if that was valid at the time the stream was opened
 * or later; without a stream the last status is valid for 60 seconds.
 *
 * @returns `last_seen_at` in microseconds, if it is known
 */
export function presenceFrom(
  lastSeen: readonly LastSeen[],
  now: number,
): { status: Presence['status']; last_seen_at?: number } {
  const arrivals = lastSeen.flatMap(({ since }) => since ?? [])
  const [last] = lastSeen
    .flatMap(({ heartbeat }) => (heartbeat && !isAhead(heartbeat.at, now) ? heartbeat : []))
    .sort((a, b) => b.at - a.at)
  const seen = lastSeen
    .flatMap(({ since, seen_at }) => [since ?? [], seen_at ?? []].flat())
    .filter((at) => !isAhead(at, now))
  const validFrom = Math.min(now, ...arrivals)
  const status = last && !hasLapsed(last.at, validFrom) ? last.status : arrivals.length > 0 ? 'online' : 'offline'
  return { status, ...(seen.length > 0 && { last_seen_at: Math.max(...seen) }) }
}
