import type { Queries } from '../../storage/database.ts'
import { among, isErasedAuthor, sql } from '../../storage/sql.ts'
import type { Message } from './schema.ts'

/** A message of which another one may be a variant. */
export interface FirstRow {
  id: string
  /** The first answer of its set, which may be itself. */
  first_id: string
  conversation_id: string
  parent_id: string | null
  role: Message['role']
  is_deleted: number
}

/** These messages, in no order. By primary key. */
export function listFirsts(db: Queries, ids: Iterable<string>): Promise<FirstRow[]> {
  return db.all<FirstRow>(
    sql`SELECT m.id, coalesce(m.variant_of, m.id) AS first_id, m.conversation_id, m.parent_id, m.role,
            CASE WHEN m.deleted_at IS NOT NULL OR ${isErasedAuthor(sql`m.posted_by`)} THEN 1 ELSE 0 END AS is_deleted
       FROM messages m WHERE m.id ${among(db, ids)}`,
  )
}
