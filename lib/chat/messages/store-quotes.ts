import type { Queries } from '../../storage/database.ts'
import { among, isErasedAuthor, literal, sql } from '../../storage/sql.ts'

/** The characters of a quoted message that an assistant gets. */
const MAX_TEXT_LENGTH = 4096

/** The text of a quoted message, and its author unless that is the assistant, or erased. */
export interface QuotedText {
  id: string
  content: string
  posted_by: string | null
}

/** The texts of these messages of a conversation that are not deleted, of an answer with its question. By primary key. */
export function listQuotedTexts(db: Queries, conversationId: string, ids: Iterable<string>): Promise<QuotedText[]> {
  return db.all<QuotedText>(
    sql`SELECT m.id, CASE WHEN m.role <> 'assistant' AND NOT EXISTS (SELECT 1 FROM erased_authors gone
                WHERE gone.user_id = m.posted_by) THEN m.posted_by END AS posted_by,
            substr(CASE WHEN m.prompt IS NULL THEN m.content WHEN m.content = '' THEN m.prompt
                ELSE m.prompt || ${literal('\n\n')} || m.content END, 1, ${literal(MAX_TEXT_LENGTH)}) AS content
       FROM messages m
      WHERE m.id ${among(db, ids)} AND m.conversation_id = ${conversationId} AND m.deleted_at IS NULL
          AND NOT ${isErasedAuthor(sql`m.posted_by`)}`,
  )
}
