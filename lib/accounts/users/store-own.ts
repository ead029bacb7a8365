import type { Queries } from '../../storage/database.ts'
import { sql } from '../../storage/sql.ts'
import type { ShownUser } from './store.ts'

/** A user as only that user reads it. */
export interface OwnUser extends ShownUser {
  /** 1 if the user shares read markers. */
  receipts: number
}

export function findOwnUser(db: Queries, id: string): Promise<OwnUser | undefined> {
  return db.get<OwnUser>(
    sql`SELECT id, email, email_verified_at, username, display_name, avatar_url, roles, kind, receipts
       FROM users WHERE id = ${id}`,
  )
}

/** Sets whether a user shares read markers. @returns false if there is no such user */
export async function setReceipts(tx: Queries, id: string, isShared: boolean): Promise<boolean> {
  return (await tx.run(sql`UPDATE users SET receipts = ${isShared ? 1 : 0} WHERE id = ${id}`)) === 1
}
