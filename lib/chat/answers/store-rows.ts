import type { PartRow } from '../../core/stored-parts.ts'
import type { Queries } from '../../storage/database.ts'
import { isErasedAuthor, type Micros, sql } from '../../storage/sql.ts'
import type { MessageStatus } from './schema.ts'
import type { FailureCode } from './schema-failures.ts'

/** What tells of a message that has rows: where it is, and how far it has come. */
export interface WrittenRow {
  id: string
  conversation_id: string
  root_id: string
  parent_id: string | null
  variant_of: string | null
  role: string
  assistant: string | null
  status: MessageStatus
  finish_reason: string | null
  failure: FailureCode | null
  /** As JSON. */
  usage: string | null
  /** As JSON. */
  metadata: string | null
  parent_role: string | null
  created_at: Micros
  edited_at: Micros | null
  is_gone: number
  /** The text, where that is not in rows: of an edited one, and of one that came without rows. */
  content: string | null
}

/** A message with where it is and how far it has come. By primary key. */
export function findWritten(db: Queries, messageId: string): Promise<WrittenRow | undefined> {
  return db.get<WrittenRow>(
    sql`SELECT m.id, m.conversation_id, m.root_id, m.parent_id, m.variant_of, m.role, m.assistant, m.status, m.finish_reason,
            m.failure, m.usage, m.metadata, m.created_at, m.edited_at,
            (SELECT p.role FROM messages p WHERE p.id = m.parent_id) AS parent_role,
            CASE WHEN m.deleted_at IS NOT NULL OR ${isErasedAuthor(sql`m.posted_by`)} THEN 1 ELSE 0 END AS is_gone,
            CASE WHEN m.edited_at IS NULL AND (m.status IN ('streaming', 'waiting')
                   OR EXISTS (SELECT 1 FROM message_chunks c WHERE c.message_id = m.id))
              THEN NULL ELSE m.content END AS content
       FROM messages m WHERE m.id = ${messageId}`,
  )
}

/** A row as it is stored. */
export interface StoredRow extends PartRow {
  idx: number
  created_at: Micros
}

/** The rows of a message from one number to another, in order. By primary key. */
export function listStoredRows(db: Queries, messageId: string, first: number, last: number): Promise<StoredRow[]> {
  return db.all<StoredRow>(
    sql`SELECT idx, content, part, created_at FROM message_chunks
      WHERE message_id = ${messageId} AND idx BETWEEN ${first} AND ${last}
      ORDER BY idx`,
  )
}
