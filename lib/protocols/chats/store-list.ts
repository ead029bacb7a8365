import type { Place } from '../../core/pages.ts'
import type { Queries } from '../../storage/database.ts'
import { isErasedAuthor, literal, type Micros, sql } from '../../storage/sql.ts'

/** A chat in the list of its user, with what its title is made of. */
export interface ListedChat {
  name: string
  root_id: string
  conversation_id: string
  last_activity_at: Micros
  conversation_title: string
  /** 1 if the conversation has no other thread. */
  is_only_thread: number
}

/** Up to `limit` chats that a user has named, in conversations in which the user participates, latest activity first. By user_id. */
export function listChats(
  db: Queries,
  userId: string,
  { after, limit, isSystem }: { after: Place | undefined; limit: number; isSystem: boolean },
): Promise<ListedChat[]> {
  const participates = sql`EXISTS (SELECT 1 FROM participants p
        WHERE p.conversation_id = h.conversation_id AND p.user_id = h.user_id)`
  return db.all<ListedChat>(
    sql`SELECT h.name, t.root_id, h.conversation_id, t.last_activity_at, c.title AS conversation_title,
            CASE WHEN EXISTS (SELECT 1 FROM threads o WHERE o.conversation_id = h.conversation_id AND o.root_id <> t.root_id)
              THEN 0 ELSE 1 END AS is_only_thread
       FROM chats h JOIN threads t ON t.root_id = h.root_id
       JOIN conversations c ON c.id = h.conversation_id
       JOIN messages m ON m.id = h.root_id
      WHERE h.user_id = ${userId} AND h.name >= ${literal('!')} AND c.deleted_at IS NULL AND m.deleted_at IS NULL AND NOT ${isErasedAuthor(sql`m.posted_by`)}
        AND ${isSystem ? sql`c.deleted_at IS NULL` : participates}
        ${after ? sql`AND (t.last_activity_at, t.root_id) < (${after.at}, ${after.id})` : sql``}
      ORDER BY t.last_activity_at DESC, t.root_id DESC
      LIMIT ${limit}`,
  )
}
