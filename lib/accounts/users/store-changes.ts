import { uniqueKey } from '../../core/characters.ts'
import type { Queries } from '../../storage/database.ts'
import type { Micros } from '../../storage/sql.ts'
import type { ShownUser, UserRow } from './store.ts'

/** Stores the fields that an administrator can change. It fails on an address or a username that another user has. */
export async function updateUser(tx: Queries, row: UserRow, at: Micros): Promise<void> {
  await tx.run(
    `UPDATE users SET email = ?, email_key = ?, email_verified_at = ?, username = ?, username_key = ?, display_name = ?,
            roles = ?, password_hash = ?, disabled_at = ?, updated_at = ?
      WHERE id = ?`,
    row.email,
    uniqueKey(row.email),
    row.email_verified_at,
    row.username,
    uniqueKey(row.username),
    row.display_name,
    row.roles,
    row.password_hash,
    row.disabled_at,
    at,
    row.id,
  )
}

/** Ends all streams of a user that were opened up to an instant. */
export async function endStreams(tx: Queries, id: string, at: Micros): Promise<void> {
  await tx.run('UPDATE users SET streams_ended_at = ? WHERE id = ?', at, id)
}

/** Removes a user's password. */
export async function removePassword(tx: Queries, id: string, at: Micros): Promise<void> {
  await tx.run('UPDATE users SET password_hash = NULL, updated_at = ? WHERE id = ?', at, id)
}

/** Marks the address as verified, unless it already is. */
export async function markEmailVerified(tx: Queries, id: string, at: Micros): Promise<void> {
  await tx.run('UPDATE users SET email_verified_at = ? WHERE id = ? AND email_verified_at IS NULL', at, id)
}

export async function updatePasswordHash(tx: Queries, id: string, hash: string, at: Micros): Promise<void> {
  await tx.run('UPDATE users SET password_hash = ?, updated_at = ? WHERE id = ?', hash, at, id)
}

/** Sets a new password, unless the old one was changed since. @returns whether it was set */
export async function replacePasswordHash(
  tx: Queries,
  id: string,
  hashes: { old: string; new: string },
  at: Micros,
): Promise<boolean> {
  const replaced = await tx.run(
    'UPDATE users SET password_hash = ?, updated_at = ? WHERE id = ? AND password_hash = ?',
    hashes.new,
    at,
    id,
    hashes.old,
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
    `UPDATE users SET email = ?, email_key = ?, email_verified_at = ?, username = ?, username_key = ?, display_name = ?, roles = ?, updated_at = ?
      WHERE id = ?`,
    email,
    uniqueKey(email),
    email_verified_at,
    username,
    uniqueKey(username),
    display_name,
    roles,
    at,
    id,
  )
}
