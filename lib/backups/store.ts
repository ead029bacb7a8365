import type { Queries } from '../storage/database.ts'
import { databaseNow, literal, type Micros, sql } from '../storage/sql.ts'

/** The state of the backups of a database. */
export interface BackupState {
  /** In the names of its backups: others in the same place are never deleted. */
  owner: string
  /** When backups were first configured. */
  created_at: Micros
  /** The end of the last attempt; `created_at` before the first one. */
  attempted_at: Micros
  succeeded_at: Micros | null
  /** Failures since the last success. */
  failures: number
  /** Why the last attempt failed. */
  error: string | null
  /** The name and the size of the last backup, as JSON. */
  detail: string | null
  /** Where the last backup was stored; null if that was by a version that did not note it. */
  target: string | null
}

const NAME = 'backup'

/** `undefined` if no backup was ever due. By primary key. */
export function findState(db: Queries): Promise<BackupState | undefined> {
  return db.get<BackupState>(
    sql`SELECT owner, created_at, attempted_at, succeeded_at, failures, error, detail, target FROM schedules
          WHERE name = ${literal(NAME)}`,
  )
}

/** Adds the state if there is none. */
export async function insertState(tx: Queries, owner: string, now: Micros): Promise<void> {
  await tx.run(
    sql`INSERT INTO schedules (name, owner, created_at, attempted_at)
          VALUES (${literal(NAME)}, ${owner}, ${now}, ${now})
          ON CONFLICT (name) DO NOTHING`,
  )
}

/** Replaces times that are later than `now` by it. */
export async function clampTimes(tx: Queries, now: Micros): Promise<void> {
  await tx.run(
    sql`UPDATE schedules SET created_at = CASE WHEN created_at > ${now} THEN ${now} ELSE created_at END,
                          attempted_at = CASE WHEN attempted_at > ${now} THEN ${now} ELSE attempted_at END,
                          succeeded_at = CASE WHEN succeeded_at > ${now} THEN ${now} ELSE succeeded_at END
      WHERE name = ${literal(NAME)}`,
  )
}

/** Takes the right to make a backup, if no other process has it, and the last attempt is still that of `state`. */
export async function takeLease(tx: Queries, writer: string, lease: Micros, state: BackupState): Promise<boolean> {
  const clock = databaseNow(tx.dialect)
  const taken = await tx.run(
    // A write whose answer was lost is tried again, by the same writer.
    sql`UPDATE schedules SET writer = ${writer}, lease_expires_at = ${clock} + ${lease}
      WHERE name = ${literal(NAME)} AND attempted_at = ${state.attempted_at}
        AND (lease_expires_at IS NULL OR lease_expires_at < ${clock} OR writer = ${writer})`,
  )
  return taken === 1
}

/** The process that has the right now, if one has it. By primary key. */
export async function findWriter(db: Queries): Promise<string | undefined> {
  const held = await db.get<{ writer: string }>(
    sql`SELECT writer FROM schedules WHERE name = ${literal(NAME)} AND writer IS NOT NULL
          AND lease_expires_at >= ${databaseNow(db.dialect)}`,
  )
  return held?.writer
}

/** @returns false when the writer has lost it */
export async function renewLease(tx: Queries, writer: string, lease: Micros): Promise<boolean> {
  const renewed = await tx.run(
    sql`UPDATE schedules SET lease_expires_at = ${databaseNow(tx.dialect)} + ${lease} WHERE name = ${literal(NAME)}
          AND writer = ${writer}`,
  )
  return renewed === 1
}

/** Gives the right back without an attempt. */
export async function releaseLease(tx: Queries, writer: string): Promise<void> {
  await tx.run(
    sql`UPDATE schedules SET writer = NULL, lease_expires_at = NULL WHERE name = ${literal(NAME)}
          AND writer = ${writer}`,
  )
}

/** Stores a success, and gives the right back. */
export async function storeSuccess(
  tx: Queries,
  writer: string,
  at: Micros,
  { detail, target }: { detail: string; target: string },
): Promise<void> {
  await tx.run(
    sql`UPDATE schedules SET attempted_at = ${at}, succeeded_at = ${at}, failures = 0, error = NULL, detail = ${detail},
          target = ${target},
                          writer = NULL, lease_expires_at = NULL
      WHERE name = ${literal(NAME)} AND writer = ${writer}`,
  )
}

/** Stores a failure, and gives the right back. */
export async function storeFailure(tx: Queries, writer: string, at: Micros, error: string): Promise<void> {
  await tx.run(
    sql`UPDATE schedules SET attempted_at = ${at}, failures = failures + 1, error = ${error}, writer = NULL,
          lease_expires_at = NULL
      WHERE name = ${literal(NAME)} AND writer = ${writer}`,
  )
}

/** What a backup that is opened contains. Reads all of it. */
export async function countContent(db: Queries): Promise<{ users: number; conversations: number; messages: number }> {
  const counts = await db.get<Awaited<ReturnType<typeof countContent>>>(
    sql`SELECT (SELECT count(*) FROM users) AS users, (SELECT count(*) FROM conversations) AS conversations,
            (SELECT count(*) FROM messages) AS messages`,
  )
  return counts!
}
