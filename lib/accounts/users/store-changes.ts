import type { Queries } from '../../storage/database.ts'
import { type Micros, sql } from '../../storage/sql.ts'

/** Ends all streams of a user that were opened up to an instant, and refuses signed tokens that were issued up to it. */
export async function endStreams(tx: Queries, id: string, at: Micros): Promise<void> {
  await tx.run(sql`UPDATE users SET streams_ended_at = ${at}, tokens_after = ${at} WHERE id = ${id}`)
}

/** Whether the use of a guest is to be stored that was stored last before an instant. By primary key. */
export async function isGuestUseDue(db: Queries, id: string, before: Micros): Promise<boolean> {
  const row = await db.get(sql`SELECT 1 AS found FROM users WHERE id = ${id} AND ${isUsedBefore(before)}`)
  return row !== undefined
}

/** Stores that a guest was seen, unless that was stored after `before`. */
export async function touchGuest(tx: Queries, id: string, { at, before }: { at: Micros; before: Micros }) {
  await tx.run(sql`UPDATE users SET used_at = ${at} WHERE id = ${id} AND ${isUsedBefore(before)}`)
}

const isUsedBefore = (before: Micros) => sql`kind = 'guest' AND COALESCE(used_at, created_at) <= ${before}`

/** Removes a user's password. */
export async function removePassword(tx: Queries, id: string, at: Micros): Promise<void> {
  await tx.run(sql`UPDATE users SET password_hash = NULL, updated_at = ${at} WHERE id = ${id}`)
}

/** Marks the address as verified, unless it already is. */
export async function markEmailVerified(tx: Queries, id: string, at: Micros): Promise<void> {
  await tx.run(sql`UPDATE users SET email_verified_at = ${at} WHERE id = ${id} AND email_verified_at IS NULL`)
}

export async function updatePasswordHash(tx: Queries, id: string, hash: string, at: Micros): Promise<void> {
  await tx.run(sql`UPDATE users SET password_hash = ${hash}, updated_at = ${at} WHERE id = ${id}`)
}

/** Sets a new password, unless the old one was changed since. @returns whether it was set */
export async function replacePasswordHash(
  tx: Queries,
  id: string,
  hashes: { old: string; new: string },
  at: Micros,
): Promise<boolean> {
  const replaced = await tx.run(
    sql`UPDATE users SET password_hash = ${hashes.new}, updated_at = ${at} WHERE id = ${id}
          AND password_hash = ${hashes.old}`,
  )
  return replaced === 1
}
