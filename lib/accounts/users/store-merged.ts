import type { Queries } from '../../storage/database.ts'
import { among, type Micros, sql } from '../../storage/sql.ts'

/** A user that was merged into another one, and what was moved. */
export interface MergedUser {
  from_id: string
  into_id: string
  /** The host's own id that the user had. */
  subject: string | null
  /** The digest of the token by which it was claimed, of a guest. */
  token_hash: string | null
  merged_at: Micros
  messages: number
  conversations: number
}

const COLUMNS = sql`from_id, into_id, subject, token_hash, merged_at, messages, conversations`

/** The ones of these users that were merged into others. By primary key. */
export function listMerged(db: Queries, ids: Iterable<string>): Promise<MergedUser[]> {
  return db.all<MergedUser>(sql`SELECT ${COLUMNS} FROM merged_users WHERE from_id ${among(db, ids)}`)
}

/** Whether one of these users, by id or by the host's own id, was merged into another one or is being erased. By the keys. */
export async function hasEndedAmong(db: Queries, names: readonly string[]): Promise<boolean> {
  const row = await db.get(
    sql`SELECT from_id AS id FROM merged_users WHERE from_id ${among(db, names)}
      UNION ALL SELECT from_id FROM merged_users WHERE subject ${among(db, names)}
      UNION ALL SELECT user_id FROM erased_authors WHERE user_id ${among(db, names)} LIMIT 1`,
  )
  return row !== undefined
}

/** The latest merge of a person of the host's, by the host's own id. By subject. */
export function findMergedSubject(db: Queries, subject: string): Promise<MergedUser | undefined> {
  return db.get<MergedUser>(
    sql`SELECT ${COLUMNS} FROM merged_users WHERE subject = ${subject} ORDER BY merged_at DESC LIMIT 1`,
  )
}

/** The merge of a guest who was claimed by this token, by its digest. By token_hash. */
export function findMergedToken(db: Queries, tokenHash: string): Promise<MergedUser | undefined> {
  return db.get<MergedUser>(sql`SELECT ${COLUMNS} FROM merged_users WHERE token_hash = ${tokenHash}`)
}

/** Notes a merge. Those that were merged into the user before are merged into the new one. By the index of these. */
export async function insertMerged(tx: Queries, row: MergedUser): Promise<void> {
  await tx.run(sql`UPDATE merged_users SET into_id = ${row.into_id} WHERE into_id = ${row.from_id}`)
  await tx.run(
    sql`INSERT INTO merged_users (${COLUMNS}) VALUES (${row.from_id}, ${row.into_id}, ${row.subject}, ${row.token_hash},
          ${row.merged_at}, ${row.messages}, ${row.conversations})`,
  )
}
