import { answeredPerson, authorOf } from '../../storage/answered-person.ts'
import type { Queries } from '../../storage/database.ts'
import { sql } from '../../storage/sql.ts'
import type { Progress } from './store.ts'

/** The writer of a message that a program streams by calls: any process takes them. */
export const BY_CALLS = 'calls'

/** The person who is answered by a streamed message; `null` for a root, and for other messages. By primary keys. */
export async function findAnsweredPerson(db: Queries, messageId: string): Promise<string | null> {
  const row = await db.get<{ id: string | null }>(
    sql`SELECT ${answeredPerson(sql`messages`)} AS id FROM messages WHERE messages.id = ${messageId}`,
  )
  return row?.id ?? null
}

/** The person who is answered by a streamed reply to this message. By primary keys. */
export async function findAnsweredIn(db: Queries, parentId: string): Promise<string | null> {
  const row = await db.get<{ id: string | null }>(sql`SELECT ${authorOf(sql`${parentId}`)} AS id`)
  return row?.id ?? null
}

/** The progress of a message that is streamed; `undefined` once it has ended. By primary key. */
export function findProgress(tx: Queries, messageId: string): Promise<Progress | undefined> {
  return tx.get<Progress>(
    sql`SELECT writer, chunk_count, bytes, paced_to FROM answers_under_way WHERE message_id = ${messageId}`,
  )
}

/** The number of chunks of a message. By primary key. */
export async function countChunks(db: Queries, messageId: string): Promise<number> {
  const row = await db.get<{ count: number }>(
    sql`SELECT count(*) AS count FROM message_chunks WHERE message_id = ${messageId}`,
  )
  return row!.count
}

/** The messages of a conversation that a user streams as a program. By the messages in progress, which are few. */
export async function listStreamedBy(tx: Queries, conversationId: string, userId: string): Promise<string[]> {
  const rows = await tx.all<{ id: string }>(
    sql`SELECT m.id FROM answers_under_way a JOIN messages m ON m.id = a.message_id
      WHERE a.conversation_id = ${conversationId} AND m.posted_by = ${userId} AND m.role <> 'assistant'`,
  )
  return rows.map(({ id }) => id)
}

/** The answers of the assistant that are under way in a conversation. These are few. */
export async function listAnswersIn(tx: Queries, conversationId: string): Promise<string[]> {
  const rows = await tx.all<{ id: string }>(
    sql`SELECT m.id FROM answers_under_way a JOIN messages m ON m.id = a.message_id
      WHERE a.conversation_id = ${conversationId} AND m.role = 'assistant'
      UNION SELECT message_id FROM tool_calls WHERE conversation_id = ${conversationId} AND approval = 'waiting'`,
  )
  return rows.map(({ id }) => id)
}
