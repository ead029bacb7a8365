import type { Queries } from '../../storage/database.ts'
import { type Micros, sql } from '../../storage/sql.ts'
import type { UserRow } from '../users/store.ts'

/**
 * The key of an identity; without the address, which may be reassigned. The host's own authentication has the provider
 * `host` and no issuer.
 */
export interface IdentityKey {
  provider: string
  issuer: string
  subject: string
}

/** The key of a person of the host's, by the host's own id. */
export function hostKey(subject: string): IdentityKey {
  return { provider: 'host', issuer: '', subject }
}

/** A user who was found by an identity. */
export interface IdentifiedUser extends Omit<UserRow, 'password_hash'> {
  /** Proofs of a login that were issued up to this instant are refused. */
  tokens_after: Micros
  /** When the proof was issued by which the names were stored last; `null`: none says it. */
  claims_at: Micros | null
}

/** The user of an identity. By primary key. */
export function findIdentity(
  db: Queries,
  { provider, issuer, subject }: IdentityKey,
): Promise<IdentifiedUser | undefined> {
  return db.get(
    sql`SELECT u.id, u.email, u.email_verified_at, u.username, u.display_name, u.avatar_url, u.roles, u.kind,
            u.disabled_at, u.created_at, u.tokens_after, i.claims_at
       FROM identities i JOIN users u ON u.id = i.user_id
      WHERE i.provider = ${provider} AND i.issuer = ${issuer} AND i.subject = ${subject}`,
  )
}

/** An identity as it is stored. */
export interface IdentityRow extends IdentityKey {
  id: string
  user_id: string
  created_at: Micros
}

/** @returns the number of rows added: 0 when another call was faster */
export function insertIdentity(tx: Queries, row: IdentityRow): Promise<number> {
  return tx.run(
    sql`INSERT INTO identities (id, provider, issuer, subject, user_id, created_at)
          VALUES (${row.id}, ${row.provider}, ${row.issuer}, ${row.subject}, ${row.user_id}, ${row.created_at})
     ON CONFLICT DO NOTHING`,
  )
}

/** Stores when the proof was issued by which names were stored. */
export async function setClaimed(tx: Queries, { provider, issuer, subject }: IdentityKey, at: Micros): Promise<void> {
  await tx.run(
    sql`UPDATE identities SET claims_at = ${at}
      WHERE provider = ${provider} AND issuer = ${issuer} AND subject = ${subject}`,
  )
}

/** A user's identities at providers, newest first; those of the host's authentication have no issuer. By user_id. */
export function listIdentities(db: Queries, userId: string): Promise<IdentityRow[]> {
  return db.all<IdentityRow>(
    sql`SELECT id, provider, issuer, subject, user_id, created_at FROM identities
      WHERE user_id = ${userId} AND issuer <> ''
      ORDER BY created_at DESC, id DESC`,
  )
}

export async function deleteIdentity(tx: Queries, id: string): Promise<void> {
  await tx.run(sql`DELETE FROM identities WHERE id = ${id}`)
}
