import type { ParticipantRole } from '../conversations/schema.ts'
import { toInstant } from '../ids.ts'
import type { Queries } from '../storage/database.ts'
import type { Micros } from '../storage/sql.ts'
import type { Invite } from './schema.ts'

/** An invite as it is stored: of its token only a digest. */
export interface InviteRow {
  id: string
  conversation_id: string
  token_hash: string
  created_by: string | null
  email: string | null
  email_key: string | null
  role: ParticipantRole
  uses: number
  max_uses: number
  created_at: Micros
  expires_at: Micros
  revoked_at: Micros | null
}

const COLUMNS = `id, conversation_id, token_hash, created_by, email, email_key, role, uses, max_uses, created_at,
  expires_at, revoked_at`

/** A row as owners and admins of the conversation see it. */
export function toInvite(row: InviteRow): Invite {
  const { id, email, role, uses, max_uses, created_by } = row
  return {
    id,
    ...(email && { email }),
    role,
    uses,
    max_uses,
    ...(created_by && { created_by }),
    created_at: toInstant(row.created_at),
    expires_at: toInstant(row.expires_at),
  }
}

/** The invite of a token, whatever its state. By token_hash. */
export function findInviteByToken(db: Queries, tokenHash: string): Promise<InviteRow | undefined> {
  return db.get<InviteRow>(`SELECT ${COLUMNS} FROM invites WHERE token_hash = ?`, tokenHash)
}

/** An invite, whatever its state. By primary key. */
export function findInvite(db: Queries, id: string): Promise<InviteRow | undefined> {
  return db.get<InviteRow>(`SELECT ${COLUMNS} FROM invites WHERE id = ?`, id)
}

/** The invites of a conversation that can still be accepted, oldest first. By conversation_id. */
export function listOpenInvites(db: Queries, conversationId: string, now: Micros): Promise<InviteRow[]> {
  return db.all<InviteRow>(
    `SELECT ${COLUMNS} FROM invites
      WHERE conversation_id = ? AND revoked_at IS NULL AND expires_at >= ? AND uses < max_uses
      ORDER BY created_at, id`,
    conversationId,
    now,
  )
}

export async function insertInvite(tx: Queries, row: InviteRow): Promise<void> {
  await tx.run(
    `INSERT INTO invites (id, conversation_id, token_hash, created_by, email, email_key, role, max_uses, created_at, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    row.id,
    row.conversation_id,
    row.token_hash,
    row.created_by,
    row.email,
    row.email_key,
    row.role,
    row.max_uses,
    row.created_at,
    row.expires_at,
  )
}

/** Uses an invite once more. @returns whether there was a use left, which nobody else then gets */
export async function takeUse(tx: Queries, id: string): Promise<boolean> {
  return (await tx.run('UPDATE invites SET uses = uses + 1 WHERE id = ? AND uses < max_uses', id)) === 1
}

export async function markRevoked(tx: Queries, id: string, at: Micros): Promise<void> {
  await tx.run('UPDATE invites SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL', at, id)
}

/** Forgets up to `limit` invites that ran out before `before`. By expires_at. @returns how many */
export function deleteInvitesBefore(tx: Queries, before: Micros, limit: number): Promise<number> {
  return tx.run(
    `DELETE FROM invites WHERE id IN (
       SELECT id FROM invites WHERE expires_at < ? ORDER BY expires_at LIMIT ?)`,
    before,
    limit,
  )
}

/**
 * Takes a user out of all invites: those they made are revoked, since they know the tokens, and those to their address
 * are gone.
 */
export async function disownInvites(
  tx: Queries,
  { user_id, email_key }: { user_id: string; email_key: string },
  at: Micros,
): Promise<void> {
  await tx.run(
    'UPDATE invites SET created_by = NULL, revoked_at = coalesce(revoked_at, ?) WHERE created_by = ?',
    at,
    user_id,
  )
  await tx.run('DELETE FROM invites WHERE email_key = ?', email_key)
}
