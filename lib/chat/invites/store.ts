import type { Cutoff } from '../../core/clock.ts'
import type { Place } from '../../core/pages.ts'
import { toInstant } from '../../core/time.ts'
import type { Queries } from '../../storage/database.ts'
import { keyLives } from '../../storage/live-keys.ts'
import { among, type Micros, sql } from '../../storage/sql.ts'
import type { ParticipantRole } from '../conversations/schema.ts'
import type { Issuer, Maker, Refusals } from './rules.ts'
import type { Invite } from './schema.ts'

/** An invite as it is stored: of the token only a digest. */
export interface InviteRow extends Refusals {
  id: string
  conversation_id: string
  token_hash: string
  /** `null` for the operator's, and for those of an erased user, which are revoked. */
  created_by: string | null
  email: string | null
  email_key: string | null
  role: ParticipantRole
  uses: number
  max_uses: number
  /** The uses that created an account. */
  signups: number
  created_at: Micros
  expires_at: Micros
  revoked_at: Micros | null
  /** 1 if only the mailbox of the address gets the token. */
  mailed: number
  /** The API key that made it. */
  key_id: string | null
  /** The server key that made it. */
  server_key_id: string | null
}

const COLUMNS = sql`id, conversation_id, token_hash, created_by, email, email_key, role, uses, max_uses, signups,
       created_at,
  expires_at, revoked_at, refusals, refused_since, mailed, key_id, server_key_id`

/** An invite to a deleted conversation is not found, as the conversation itself. */
const IS_VISIBLE = sql`NOT EXISTS (SELECT 1 FROM conversations c WHERE c.id = invites.conversation_id
       AND c.deleted_at IS NOT NULL)`

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

/** The invite of a token, its own or one of a mail, whatever its state. By token_hash. */
export function findInviteByToken(db: Queries, tokenHash: string): Promise<InviteRow | undefined> {
  return db.get<InviteRow>(
    sql`SELECT ${COLUMNS} FROM invites
      WHERE (token_hash = ${tokenHash} OR id = (SELECT request_id FROM email_request_tokens
      WHERE token_hash = ${tokenHash})) AND ${IS_VISIBLE}`,
  )
}

/** An invite, whatever its state. By primary key. */
export function findInvite(db: Queries, id: string): Promise<InviteRow | undefined> {
  return db.get<InviteRow>(sql`SELECT ${COLUMNS} FROM invites WHERE id = ${id} AND ${IS_VISIBLE}`)
}

/** An invite ends with the API key or the server key that made it. */
const hasKey = (now: Micros) =>
  sql`(key_id IS NULL OR EXISTS (SELECT 1 FROM api_keys k WHERE k.id = invites.key_id AND ${keyLives(now)}))
      AND (server_key_id IS NULL
           OR EXISTS (SELECT 1 FROM server_keys k WHERE k.id = invites.server_key_id AND ${keyLives(now)}))`

const isOpen = (conversationId: string, now: Micros) => sql`conversation_id = ${conversationId} AND revoked_at IS NULL
  AND expires_at >= ${now} AND uses < max_uses AND ${hasKey(now)}`

/**
 * Up to `limit` invites of a conversation that can still be accepted, created before a given one, latest first. By
 * (conversation_id, created_at).
 */
export function listOpenInvites(
  db: Queries,
  conversationId: string,
  now: Micros,
  before: Place,
  limit: number,
): Promise<InviteRow[]> {
  return db.all<InviteRow>(
    sql`SELECT ${COLUMNS} FROM invites
      WHERE ${isOpen(conversationId, now)} AND (created_at, id) < (${before.at}, ${before.id})
      ORDER BY created_at DESC, id DESC
      LIMIT ${limit}`,
  )
}

/** The number of invites of a conversation that can still be accepted. By conversation_id. */
export async function countOpenInvites(db: Queries, conversationId: string, now: Micros): Promise<number> {
  const row = await db.get<{ total: number }>(
    sql`SELECT count(*) AS total FROM invites WHERE ${isOpen(conversationId, now)}`,
  )
  return row!.total
}

/**
 * The issuer of an invite, with current rights; none if the key that made it has ended. By primary keys.
 *
 * @param options.lock locks the account of the creator until the transaction ends
 */
export async function findIssuer(
  db: Queries,
  {
    created_by,
    conversation_id,
    key_id,
    server_key_id,
  }: Pick<InviteRow, 'created_by' | 'conversation_id' | 'key_id' | 'server_key_id'>,
  now: Micros,
  options: { lock?: boolean } = {},
): Promise<Issuer> {
  const byServer = sql`SELECT 1 AS lives FROM server_keys k WHERE k.id = ${server_key_id} AND ${keyLives(now)}`
  if (server_key_id !== null && !(await db.get(byServer))) return undefined
  if (created_by === null) return 'operator'
  const hasItsKey =
    key_id === null
      ? sql``
      : sql`AND EXISTS (SELECT 1 FROM api_keys k WHERE k.id = ${key_id}
         AND ${keyLives(now)})`
  return db.get<Maker>(
    sql`SELECT u.roles, u.disabled_at, p.role, c.policy
       FROM users u
       LEFT JOIN participants p ON p.user_id = u.id AND p.conversation_id = ${conversation_id}
       LEFT JOIN conversations c ON c.id = p.conversation_id
      WHERE u.id = ${created_by} ${hasItsKey}
      ${options.lock && db.dialect === 'postgresql' ? sql`FOR SHARE OF u` : sql``}`,
  )
}

/** Locks an invite until the transaction ends. By primary key. */
export function lockInvite(tx: Queries, id: string): Promise<InviteRow | undefined> {
  const lock = tx.dialect === 'postgresql' ? sql`FOR UPDATE` : sql``
  return tx.get<InviteRow>(sql`SELECT ${COLUMNS} FROM invites WHERE id = ${id} ${lock}`)
}

export async function setRefusals(tx: Queries, id: string, { refusals, refused_since }: Refusals): Promise<void> {
  await tx.run(sql`UPDATE invites SET refusals = ${refusals}, refused_since = ${refused_since} WHERE id = ${id}`)
}

export async function insertInvite(
  tx: Queries,
  row: Omit<InviteRow, 'uses' | 'signups' | 'revoked_at' | keyof Refusals>,
): Promise<void> {
  await tx.run(
    sql`INSERT INTO invites (id, conversation_id, token_hash, created_by, email, email_key, role, max_uses, created_at,
          expires_at, mailed, key_id, server_key_id)
     VALUES (${row.id}, ${row.conversation_id}, ${row.token_hash}, ${row.created_by}, ${row.email}, ${row.email_key},
             ${row.role}, ${row.max_uses}, ${row.created_at}, ${row.expires_at}, ${row.mailed}, ${row.key_id},
             ${row.server_key_id})`,
  )
}

/** Counts a use of an invite. @returns whether a use was left */
export async function takeUse(tx: Queries, id: string, { signups }: { signups: 0 | 1 }): Promise<boolean> {
  const taken = await tx.run(
    sql`UPDATE invites SET uses = uses + 1, signups = signups + ${signups} WHERE id = ${id} AND uses < max_uses`,
  )
  return taken === 1
}

/** @returns whether it was open until now */
export async function markRevoked(tx: Queries, id: string, at: Micros): Promise<boolean> {
  return (await tx.run(sql`UPDATE invites SET revoked_at = ${at} WHERE id = ${id} AND revoked_at IS NULL`)) === 1
}

/** The invites of a user to revoke: all, or those of one conversation, or of those the ones to some roles. */
export interface MadeBy {
  user_id: string
  conversation_id?: string
  roles?: readonly string[]
}

/** Revokes a user's invites that can still be accepted. By invites_of_maker. */
export function revokeOpenInvites(
  tx: Queries,
  { user_id, conversation_id, roles }: MadeBy,
  at: Micros,
): Promise<Pick<InviteRow, 'id' | 'conversation_id' | 'role'>[]> {
  return tx.all(
    sql`UPDATE invites SET revoked_at = ${at}
      WHERE created_by = ${user_id} AND revoked_at IS NULL AND expires_at >= ${at} AND uses < max_uses
        ${conversation_id === undefined ? sql`` : sql`AND conversation_id = ${conversation_id}`}
        ${roles === undefined ? sql`` : sql`AND role ${among(tx, roles)}`}
      RETURNING id, conversation_id, role`,
  )
}

/** Deletes up to `limit` invites that expired before `before`. By expires_at. @returns the number of invites deleted */
export function deleteInvitesBefore(tx: Queries, before: Cutoff, limit: number): Promise<number> {
  return tx.run(
    sql`DELETE FROM invites WHERE id IN (
       SELECT id FROM invites WHERE expires_at < ${before} ORDER BY expires_at LIMIT ${limit})`,
  )
}

/**
 * Removes a user from all invites: those the user created are revoked, since the user knows the tokens, and keep no address
 * of another person; those to the user's address are deleted.
 */
export async function anonymizeInvites(
  tx: Queries,
  { user_id, email_key }: { user_id: string; email_key: string },
  at: Micros,
): Promise<void> {
  await tx.run(
    sql`UPDATE invites SET created_by = NULL, email = NULL, email_key = NULL, revoked_at = coalesce(revoked_at, ${at})
      WHERE created_by = ${user_id}`,
  )
  await tx.run(sql`DELETE FROM invites WHERE email_key = ${email_key}`)
}
