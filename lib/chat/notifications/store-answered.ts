import type { Queries } from '../../storage/database.ts'
import { sql } from '../../storage/sql.ts'

/** An answer of the assistant that has text, and the user who asked. By primary key. */
export function findAnswered(
  db: Queries,
  messageId: string,
): Promise<{ root_id: string; posted_by: string; is_direct: number } | undefined> {
  return db.get(
    sql`SELECT m.root_id, m.posted_by, c.is_direct FROM messages m JOIN conversations c ON c.id = m.conversation_id
      WHERE m.id = ${messageId} AND m.content <> '' AND m.posted_by IS NOT NULL AND m.deleted_at IS NULL`,
  )
}

/** Whether a message is an answer to a question of this user. By primary key. */
export async function isAnswerTo(db: Queries, messageId: string, userId: string): Promise<boolean> {
  const row = await db.get(
    sql`SELECT 1 AS found FROM messages WHERE id = ${messageId} AND posted_by = ${userId} AND role = 'assistant'`,
  )
  return row !== undefined
}

/** Whether the text of a message is of a model. By primary key. */
export async function isGenerated(db: Queries, messageId: string): Promise<boolean> {
  const row = await db.get(
    sql`SELECT 1 AS found FROM messages WHERE id = ${messageId} AND (role = 'assistant' OR generated = 1)`,
  )
  return row !== undefined
}
