import { uniqueKey } from '../../core/characters.ts'
import type { Queries } from '../../storage/database.ts'
import { type Micros, sql } from '../../storage/sql.ts'
import type { ShownUser, UserRow } from './store.ts'

/** Stores the fields that an administrator can change. It fails on an address or a username that another user has. */
export async function updateUser(tx: Queries, row: UserRow, at: Micros): Promise<void> {
  await tx.run(
    sql`UPDATE users SET email = ${row.email}, email_key = ${uniqueKey(row.email)},
          email_verified_at = ${row.email_verified_at}, username = ${row.username},
          username_key = ${uniqueKey(row.username)}, display_name = ${row.display_name},
            roles = ${row.roles}, password_hash = ${row.password_hash}, disabled_at = ${row.disabled_at},
            updated_at = ${at}
      WHERE id = ${row.id}`,
  )
}

/** Ends all streams of a user that were opened up to an instant. */
export async function endStreams(tx: Queries, id: string, at: Micros): Promise<void> {
  await tx.run(sql`UPDATE users SET streams_ended_at = ${at} WHERE id = ${id}`)
}

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

/** Stores a user's own profile. It fails on a username that another user has. */
export async function updateProfile(
  tx: Queries,
  { id, email, email_verified_at, username, display_name, roles }: ShownUser,
  at: Micros,
): Promise<void> {
  await tx.run(
    sql`UPDATE users SET email = ${email}, email_key = ${uniqueKey(email)}, email_verified_at = ${email_verified_at},
          username = ${username}, username_key = ${uniqueKey(username)}, display_name = ${display_name},
          roles = ${roles}, updated_at = ${at}
      WHERE id = ${id}`,
  )
}
