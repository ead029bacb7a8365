import type { Micros } from '../../storage/sql.ts'
import { GRACE, type Sighting } from './rules.ts'

/** The minimum time between two checks of the users who have left, in milliseconds. */
const LEAST_MS = 250

/** A user with an open stream, or whose last stream was closed only just now. */
interface Visit {
  since: Micros
  left_at?: Micros
}

/** The users of this process with an open stream. */
export type Visits = ReturnType<typeof createVisits>

/**
 * The users of this process with an open stream. A user whose last stream was closed stays for {@link GRACE}: one who
 * returns by then was never away.
 *
 * @param onChange called with a user whose first stream opens, and with one who has been away for that time
 */
export function createVisits(now: () => Micros, onChange: (userId: string) => void) {
  const visits = new Map<string, Visit>()
  let seen = new Map<string, Micros>()
  const departures = createDepartures(now, (userId) => {
    visits.delete(userId)
    onChange(userId)
  })

  function come(userId: string): void {
    const visit = visits.get(userId)
    departures.cancel(userId)
    if (visit) delete visit.left_at
    else {
      const since = now()
      visits.set(userId, { since })
      seen.set(userId, since)
      onChange(userId)
    }
  }

  return {
    /** Notes the number of the open streams of a user. */
    count(userId: string, streams: number): void {
      const visit = visits.get(userId)
      if (streams > 0) come(userId)
      else if (visit && visit.left_at === undefined) {
        visit.left_at = now()
        seen.set(userId, visit.left_at)
        departures.add(userId, visit.left_at)
      }
    },

    /** Ends the visits of the users who left long enough ago. */
    endDue: departures.endDue,

    /** What is known of a user who is here; `undefined` for others. */
    find(userId: string): Sighting | undefined {
      const visit = visits.get(userId)
      return visit && { since: visit.since, ...(visit.left_at !== undefined && { seen_at: visit.left_at }) }
    },

    userIds: () => [...visits.keys()],

    /** When users came or left, since the last call. */
    takeSeen(): Map<string, Micros> {
      const taken = seen
      seen = new Map()
      return taken
    },

    close: departures.close,
  }
}

/** Users who have left, in that order. @param onEnd called with each user who has been away for {@link GRACE} */
function createDepartures(now: () => Micros, onEnd: (userId: string) => void) {
  const leftAt = new Map<string, Micros>()
  let timer: NodeJS.Timeout | undefined

  function endDue(): void {
    const at = now()
    for (const [userId, left_at] of leftAt) {
      // The clock has stepped back since: counted from now on, the user is not present for as long as the step.
      if (left_at > at) {
        leftAt.set(userId, at)
        continue
      }
      if (left_at > at - GRACE) break
      leftAt.delete(userId)
      onEnd(userId)
    }
    remind()
  }

  function remind(): void {
    const [first] = leftAt.values()
    if (timer || first === undefined) return
    const onTime = () => {
      timer = undefined
      endDue()
    }
    // After a step of the clock the time may be any, and Node calls a timer of more than 24 days at once.
    const delay_ms = Math.min(GRACE, Math.max(0, first + GRACE - now())) / 1000
    timer = setTimeout(onTime, Math.max(LEAST_MS, delay_ms)).unref()
  }

  return {
    add(userId: string, at: Micros): void {
      leftAt.set(userId, at)
      remind()
    },
    cancel: (userId: string) => void leftAt.delete(userId),
    endDue,
    close: () => clearTimeout(timer),
  }
}
