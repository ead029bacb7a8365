import type { Micros } from '../../storage/sql.ts'
import { GRACE, type LastSeen } from './rules.ts'

/** The minimum time between two checks of the users who have left, in milliseconds. */
const MIN_INTERVAL_MS = 250

/** A user with an open stream, or whose last stream was closed only just now. */
interface LocalSession {
  since: Micros
  left_at?: Micros
}

/** The users of this process with an open stream. */
export type LocalSessions = ReturnType<typeof createLocalSessions>

/**
 * The users of this process with an open stream. A user whose last stream was closed stays for {@link GRACE}: one who
 * returns by then was never away.
 *
 * @param onChange called with a user whose first stream opens, and with one who has been away for that time
 */
export function createLocalSessions(now: () => Micros, onChange: (userId: string) => void) {
  const sessions = new Map<string, LocalSession>()
  let seen = new Map<string, Micros>()
  const leaving = createLeaving(now, (userId) => {
    sessions.delete(userId)
    onChange(userId)
  })

  function come(userId: string): void {
    const session = sessions.get(userId)
    leaving.cancel(userId)
    if (session) delete session.left_at
    else {
      const since = now()
      sessions.set(userId, { since })
      seen.set(userId, since)
      onChange(userId)
    }
  }

  return {
    /** Notes the number of the open streams of a user. */
    count(userId: string, streams: number): void {
      const session = sessions.get(userId)
      if (streams > 0) come(userId)
      else if (session && session.left_at === undefined) {
        session.left_at = now()
        seen.set(userId, session.left_at)
        leaving.add(userId, session.left_at)
      }
    },

    /** Removes the users who left long enough ago. */
    endDue: leaving.endDue,

    /** What is known of a user who is here; `undefined` for others. */
    find(userId: string): LastSeen | undefined {
      const session = sessions.get(userId)
      return session && { since: session.since, ...(session.left_at !== undefined && { seen_at: session.left_at }) }
    },

    userIds: () => [...sessions.keys()],

    /** When users came or left, since the last call. */
    takeSeen(): Map<string, Micros> {
      const sessions = seen
      seen = new Map()
      return sessions
    },

    close: leaving.close,
  }
}

/** Users who have left, in that order. @param onEnd called with each user who has been away for {@link GRACE} */
function createLeaving(now: () => Micros, onEnd: (userId: string) => void) {
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
    timer = setTimeout(onTime, Math.max(MIN_INTERVAL_MS, delay_ms)).unref()
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
