import type { UserRow } from '../../accounts/users/store.ts'
import type { Queries } from '../../storage/database.ts'
import { isAbandoned, sql, subjectOf } from '../../storage/sql.ts'

/** A user who has asked, with what decides whether calls start for the user. */
export interface AskerRow extends Pick<UserRow, 'id' | 'username' | 'display_name' | 'roles' | 'kind' | 'disabled_at'> {
  /** The name of a system actor. */
  system_name: string | null
  /** The host's own id of the user. */
  subject: string | null
  is_abandoned: number
  participates: number
}

/** The user who has asked in a conversation that exists; `undefined` for one who does not exist any more. By primary keys. */
export function findAskerRow(db: Queries, conversationId: string, userId: string): Promise<AskerRow | undefined> {
  return db.get<AskerRow>(
    sql`SELECT u.id, u.username, u.display_name, u.roles, u.kind, u.disabled_at, u.system_name,
            ${subjectOf(sql`u.id`)} AS subject, ${isAbandoned(sql`u`)} AS is_abandoned,
            CASE WHEN p.user_id IS NULL THEN 0 ELSE 1 END AS participates
       FROM users u LEFT JOIN participants p ON p.conversation_id = ${conversationId} AND p.user_id = u.id
      WHERE u.id = ${userId}`,
  )
}
