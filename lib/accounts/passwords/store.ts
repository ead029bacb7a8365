import { uniqueKey } from '../../core/characters.ts'
import type { Cutoff } from '../../core/clock.ts'
import { digest } from '../../core/ids.ts'
import { SECOND } from '../../core/units.ts'
import type { Queries } from '../../storage/database.ts'
import { literal, type Micros, type Sql, sql } from '../../storage/sql.ts'

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
export function toAttemptKey(email: string, device: string | undefined): string {
  return digest(`${uniqueKey(email)}\n${device ?? ''}`)
}

/** The key for wrong current passwords of a signed-in user. */
export function toPasswordKey(userId: string): string {
  return digest(`password\n${userId}`)
}

/**
 * Counts an attempt as a failure, in one statement, unless the account is paused: then nothing is counted. A pause that
 * ends later than any pause could was written before a clock stepped back, and is ignored.
 */
export async function reserveAttempt(tx: Queries, account: string, now: Micros): Promise<Reservation | undefined> {
  const window = literal(WINDOW_SECONDS * SECOND)
  const isOld = sql`login_failures.first_at + ${window} <= ${now}
         AND login_failures.blocked_until + ${window} <= ${now}`
  const row = await tx.get<{ blocked_until: Micros }>(
    sql`INSERT INTO login_failures (account, failures, first_at, blocked_until) VALUES (${account}, 1, ${now}, 0)
     ON CONFLICT (account) DO UPDATE SET
       failures = CASE WHEN ${isOld} THEN 1 ELSE login_failures.failures + 1 END,
       first_at = CASE WHEN ${isOld} THEN excluded.first_at ELSE login_failures.first_at END,
       blocked_until = CASE WHEN (${isOld}) OR login_failures.failures + 1 < ${literal(FREE_FAILURES)} THEN 0
                            ELSE excluded.first_at + ${pause(sql`login_failures.failures + 1`)} END
     WHERE login_failures.blocked_until <= ${now}
        OR login_failures.blocked_until > ${now + MAX_PAUSE_SECONDS * SECOND}
     RETURNING blocked_until`,
  )
  return row && { pause_seconds: row.blocked_until === 0 ? 0 : (row.blocked_until - now) / SECOND }
}

/** Uncounts an attempt in which no password was checked. */
export async function returnAttempt(tx: Queries, account: string): Promise<void> {
  await tx.run(
    sql`UPDATE login_failures SET failures = failures - 1,
            blocked_until = CASE WHEN failures - 1 < ${literal(FREE_FAILURES)} THEN 0 ELSE blocked_until END
      WHERE account = ${account}`,
  )
}

/** Deletes the failures of an account after a correct password. */
export async function clearFailures(tx: Queries, account: string): Promise<void> {
  await tx.run(sql`DELETE FROM login_failures WHERE account = ${account}`)
}

/** The end of the account's pause, if it is paused: as {@link reserveAttempt}, which ignores what a stepped clock has left. */
export async function findPauseEnd(db: Queries, account: string, now: Micros): Promise<Micros | undefined> {
  const row = await db.get<{ blocked_until: Micros }>(
    sql`SELECT blocked_until FROM login_failures WHERE account = ${account} AND blocked_until > ${now}
          AND blocked_until <= ${now + MAX_PAUSE_SECONDS * SECOND}`,
  )
  return row?.blocked_until
}

/**
 * Deletes up to `limit` accounts whose failures no longer count. By login_failures_by_age. @returns the number deleted
 */
export function deleteOldFailures(tx: Queries, now: Cutoff, limit: number): Promise<number> {
  return tx.run(
    sql`DELETE FROM login_failures WHERE account IN
       (SELECT account FROM login_failures WHERE first_at <= ${now - WINDOW_SECONDS * SECOND}
           AND blocked_until <= ${now - WINDOW_SECONDS * SECOND} ORDER BY first_at LIMIT ${limit})`,
  )
}

/**
 * The pause after a number of failures, in microseconds: as a list, since the databases have no common minimum
 * function.
 */
function pause(failures: Sql): Sql {
  let steps = sql``
  for (let n = FREE_FAILURES, seconds = FIRST_PAUSE_SECONDS; seconds < MAX_PAUSE_SECONDS; n++, seconds *= 2)
    steps = sql`${steps} WHEN ${literal(n)} THEN ${literal(seconds * SECOND)}`
  return sql`CASE ${failures} ${steps} ELSE ${literal(MAX_PAUSE_SECONDS * SECOND)} END`
}

/** How many accounts are paused, at most `limit`. */
export async function countPaused(db: Queries, now: Micros, limit: number): Promise<number> {
  const row = await db.get<{ count: number }>(
    sql`SELECT count(*) AS count FROM (
       SELECT 1 FROM login_failures WHERE blocked_until > ${now}
           AND blocked_until <= ${now + MAX_PAUSE_SECONDS * SECOND} LIMIT ${limit}) AS paused`,
  )
  return row!.count
}
