import type { Queries } from '../../storage/database.ts'
import { among, sql } from '../../storage/sql.ts'

/** The conversations among these with at most `limit` participants. By primary key. */
export async function listSmall(db: Queries, conversationIds: Iterable<string>, limit: number): Promise<string[]> {
  const rows = await db.all<{ id: string }>(
    sql`SELECT c.id FROM conversations c
      WHERE c.id ${among(db, conversationIds)} AND c.deleted_at IS NULL
        AND c.participant_count <= ${limit}`,
  )
  return rows.map((row) => row.id)
}

/** The users among these who are in a conversation with the given user. By user_id and by primary key. */
export async function listKnownTo(db: Queries, userId: string, userIds: Iterable<string>): Promise<string[]> {
  const rows = await db.all<{ id: string }>(
    sql`SELECT u.id FROM users u
      WHERE u.id ${among(db, userIds)}
        AND EXISTS (SELECT 1 FROM participants theirs
                      JOIN participants own ON own.conversation_id = theirs.conversation_id
                      JOIN conversations c ON c.id = own.conversation_id
                     WHERE theirs.user_id = u.id AND own.user_id = ${userId} AND c.deleted_at IS NULL)`,
  )
  return rows.map((row) => row.id)
}
