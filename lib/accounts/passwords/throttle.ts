import { ChatError } from '../../core/errors.ts'
import { SECOND } from '../../core/units.ts'
import type { Database, Queries } from '../../storage/database.ts'
import type { Micros } from '../../storage/sql.ts'
import {
  clearFailures,
  findPauseEnd,
  MAX_PAUSE_SECONDS,
  type Reservation,
  reserveAttempt,
  returnAttempt,
} from './store.ts'

/** A sign-in that counts as a failure until it turns out to be right. */
export interface CountedAttempt {
  /** How long the account has to wait if it fails; 0 when it has not. */
  pause_seconds: number
  /** Forgets the failures of the account, in the transaction that the right password leads to. */
  succeed(tx: Queries): Promise<void>
}

/** Allows sign-in attempts until an account has failed too often. */
export interface Attempts {
  /**
   * Runs an attempt, unless the account is paused.
   *
   * It is counted as a failure before it runs, so that any number at once get no more guesses than one after another.
   * One that could turn out to be right only later is waited for: many good sign-ins at once all succeed.
   *
   * @param work checks the password and calls `succeed` if it is right; when it throws, the attempt was none
   * @throws ChatError `rate_limited`; `unavailable` when too many wait already; what `work` throws
   */
  run<T>(account: string, work: (attempt: CountedAttempt) => Promise<T>): Promise<T>
}

/** How many attempts may wait in this process for the running ones of the same account: of one account, and of all. */
const MAX_WAITING = { each: 64, all: 1_000 }

/** The attempts of one account in this process: running, and waiting for one of those to end. */
interface Line {
  running: number
  waiting: (() => void)[]
}

/** Creates the throttle for the sign-ins of a service. All processes share the failures. */
export function createAttempts(db: Database, now: () => Micros): Attempts {
  const lines = new Map<string, Line>()
  let waiting = 0

  function addTo(account: string): Line {
    const line = lines.get(account) ?? { running: 0, waiting: [] }
    lines.set(account, line)
    line.running++
    return line
  }

  function leave(account: string, line: Line): void {
    line.running--
    const next = line.waiting.shift()
    if (next) next()
    else if (line.running === 0) lines.delete(account)
  }

  async function reserve(account: string): Promise<{ line: Line; reservation: Reservation }> {
    for (;;) {
      const line = addTo(account)
      try {
        const reservation = await db.write((tx) => reserveAttempt(tx, account, now()))
        if (reservation) return { line, reservation }
        if (line.running === 1) throw await refusal(account)
        if (line.waiting.length >= MAX_WAITING.each || waiting >= MAX_WAITING.all)
          throw new ChatError('unavailable', { retry_after_seconds: 5 })
      } catch (error) {
        leave(account, line)
        throw error
      }
      line.running--
      waiting++
      await new Promise<void>((resolve) => line.waiting.push(resolve))
      waiting--
    }
  }

  async function refusal(account: string): Promise<ChatError> {
    const at = now()
    const rest = ((await findPauseEnd(db, account, at)) ?? 0) - at
    const retry_after_seconds = Math.min(MAX_PAUSE_SECONDS, Math.max(1, Math.ceil(rest / SECOND)))
    return new ChatError('rate_limited', { retry_after_seconds })
  }

  return {
    async run(account, work) {
      const { line, reservation } = await reserve(account)
      try {
        return await work({ ...reservation, succeed: (tx) => clearFailures(tx, account) })
      } catch (error) {
        await db.write((tx) => returnAttempt(tx, account))
        throw error
      } finally {
        leave(account, line)
      }
    },
  }
}
