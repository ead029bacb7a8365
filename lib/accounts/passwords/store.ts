import { uniqueKey } from '../../core/characters.ts'
import type { Cutoff } from '../../core/clock.ts'
import { digest } from '../../core/ids.ts'
import { SECOND } from '../../core/units.ts'
import type { Queries } from '../../storage/database.ts'
import type { Micros } from '../../storage/sql.ts'

/** The number of failures that causes the first pause. */
const FREE_FAILURES = 10

/** How long failures count: from the first one, and then from the end of the last pause. */
const WINDOW_SECONDS = 15 * 60

/** The first pause; each further failure doubles it. */
const FIRST_PAUSE_SECONDS = 30

/** The maximum pause of an account, whatever others try. */
export const MAX_PAUSE_SECONDS = 15 * 60

/** An allowed attempt. */
export interface Reservation {
  /** The pause if it fails; 0 for none. */
  pause_seconds: number
}

/**
 * The key for failed sign-ins. A digest: it shows neither the address nor whether the account exists.
 *
 * @param device a browser in which the user has signed in before, which is counted separately
 */
export function accountOf(email: string, device: string | undefined): string {
  return digest(`${uniqueKey(email)}\n${device ?? ''}`)
}

/** The key for wrong current passwords of a signed-in user. */
export function passwordAccountOf(userId: string): string {
  return digest(`password\n${userId}`)
}

/**
 * Counts an attempt as a failure, in one statement, unless the account is paused: then nothing is counted. A pause that
 * ends later than any pause could was written before a clock stepped back, and is ignored.
 */
export async function reserveAttempt(tx: Queries, account: string, now: Micros): Promise<Reservation | undefined> {
  const isOld = `${sum('first_at', WINDOW_SECONDS)} <= ? AND ${sum('blocked_until', WINDOW_SECONDS)} <= ?`
  const row = await tx.get<{ blocked_until: Micros }>(
    `INSERT INTO login_failures (account, failures, first_at, blocked_until) VALUES (?, 1, ?, 0)
     ON CONFLICT (account) DO UPDATE SET
       failures = CASE WHEN ${isOld} THEN 1 ELSE login_failures.failures + 1 END,
       first_at = CASE WHEN ${isOld} THEN excluded.first_at ELSE login_failures.first_at END,
       blocked_until = CASE WHEN (${isOld}) OR login_failures.failures + 1 < ${FREE_FAILURES} THEN 0
                            ELSE excluded.first_at + ${pauseOf('login_failures.failures + 1')} END
     WHERE login_failures.blocked_until <= ? OR login_failures.blocked_until > ?
     RETURNING blocked_until`,
    account,
    now,
    now,
    now,
    now,
    now,
    now,
    now,
    now,
    now + MAX_PAUSE_SECONDS * SECOND,
  )
  return row && { pause_seconds: row.blocked_until === 0 ? 0 : (row.blocked_until - now) / SECOND }
}

/** Uncounts an attempt in which no password was checked. */
export async function returnAttempt(tx: Queries, account: string): Promise<void> {
  await tx.run(
    `UPDATE login_failures SET failures = failures - 1,
            blocked_until = CASE WHEN failures - 1 < ${FREE_FAILURES} THEN 0 ELSE blocked_until END
      WHERE account = ?`,
    account,
  )
}

/** Deletes the failures of an account after a correct password. */
export async function clearFailures(tx: Queries, account: string): Promise<void> {
  await tx.run('DELETE FROM login_failures WHERE account = ?', account)
}

/** The end of the account's pause, if it is paused: as {@link reserveAttempt}, which ignores what a stepped clock has left. */
export async function findPauseEnd(db: Queries, account: string, now: Micros): Promise<Micros | undefined> {
  const row = await db.get<{ blocked_until: Micros }>(
    'SELECT blocked_until FROM login_failures WHERE account = ? AND blocked_until > ? AND blocked_until <= ?',
    account,
    now,
    now + MAX_PAUSE_SECONDS * SECOND,
  )
  return row?.blocked_until
}

/**
 * Deletes up to `limit` accounts whose failures no longer count. By login_failures_by_age. @returns the number deleted
 */
export function deleteOldFailures(tx: Queries, now: Cutoff, limit: number): Promise<number> {
  return tx.run(
    `DELETE FROM login_failures WHERE account IN
       (SELECT account FROM login_failures WHERE first_at <= ? AND blocked_until <= ? ORDER BY first_at LIMIT ?)`,
    now - WINDOW_SECONDS * SECOND,
    now - WINDOW_SECONDS * SECOND,
    limit,
  )
}

function sum(column: string, seconds: number): string {
  return `login_failures.${column} + ${seconds * SECOND}`
}

/**
 * The pause after a number of failures, in microseconds: as a list, since the databases have no common minimum
 * function.
 */
function pauseOf(failures: string): string {
  const steps: string[] = []
  for (let n = FREE_FAILURES, pause = FIRST_PAUSE_SECONDS; pause < MAX_PAUSE_SECONDS; n++, pause *= 2)
    steps.push(`WHEN ${n} THEN ${pause * SECOND}`)
  return `CASE ${failures} ${steps.join(' ')} ELSE ${MAX_PAUSE_SECONDS * SECOND} END`
}

/** How many accounts are paused, at most `limit`. */
export async function countPaused(db: Queries, now: Micros, limit: number): Promise<number> {
  const row = await db.get<{ count: number }>(
    `SELECT count(*) AS count FROM (
       SELECT 1 FROM login_failures WHERE blocked_until > ? AND blocked_until <= ? LIMIT ?) AS paused`,
    now,
    now + MAX_PAUSE_SECONDS * SECOND,
    limit,
  )
  return row!.count
}
