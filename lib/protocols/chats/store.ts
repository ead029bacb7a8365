import type { Queries } from '../../storage/database.ts'
import { literal, type Micros, sql } from '../../storage/sql.ts'
import { API_CHAT } from './rules.ts'

/** A thread by the name that a user has given to it. */
export interface ChatRow {
  user_id: string
  name: string
  conversation_id: string
  /** `null` before its first question. */
  root_id: string | null
  /** As JSON. */
  metadata: string | null
  created_at: Micros
}

/** The chat that a user has named. By primary key. */
export function findChat(db: Queries, userId: string, name: string): Promise<ChatRow | undefined> {
  return db.get<ChatRow>(
    sql`SELECT user_id, name, conversation_id, root_id, metadata, created_at FROM chats
      WHERE user_id = ${userId} AND name = ${name}`,
  )
}

/** @returns false if the user has a chat of that name */
export async function insertChat(tx: Queries, row: ChatRow): Promise<boolean> {
  const inserted = await tx.run(
    sql`INSERT INTO chats (user_id, name, conversation_id, root_id, metadata, created_at)
     VALUES (${row.user_id}, ${row.name}, ${row.conversation_id}, ${row.root_id}, ${row.metadata}, ${row.created_at})
     ON CONFLICT (user_id, name) DO NOTHING`,
  )
  return inserted === 1
}

/** Lets a name be that of another thread of the same conversation. By primary key. */
export async function setChatRoot(
  tx: Queries,
  { user_id, name, root_id }: Pick<ChatRow, 'user_id' | 'name' | 'root_id'>,
): Promise<void> {
  await tx.run(sql`UPDATE chats SET root_id = ${root_id} WHERE user_id = ${user_id} AND name = ${name}`)
}

/** The first name that begins so and was given to a thread, of any user. By root_id. */
export async function findNameOf(db: Queries, rootId: string, start: string): Promise<string | undefined> {
  const row = await db.get<{ name: string }>(
    sql`SELECT name FROM chats WHERE root_id = ${rootId} AND substr(name, 1, ${start.length}) = ${start}
      ORDER BY created_at, user_id LIMIT 1`,
  )
  return row?.name
}

/** Forgets a name. By primary key. */
export async function deleteChat(tx: Queries, { user_id, name }: Pick<ChatRow, 'user_id' | 'name'>): Promise<void> {
  await tx.run(sql`DELETE FROM chats WHERE user_id = ${user_id} AND name = ${name}`)
}

/**
 * Deletes the names of a user beyond `max`: those whose threads have not been used for the longest time, but not that of the
 * conversation *API*.
 */
export async function deleteLeastUsed(tx: Queries, userId: string, max: number): Promise<void> {
  const row = await tx.get<{ count: number }>(sql`SELECT count(*) AS count FROM chats WHERE user_id = ${userId}`)
  const surplus = row!.count - max
  if (surplus <= 0) return
  await tx.run(
    sql`DELETE FROM chats WHERE user_id = ${userId} AND name IN (
       SELECT h.name FROM chats h LEFT JOIN threads t ON t.root_id = h.root_id
        WHERE h.user_id = ${userId} AND h.name <> ${literal(API_CHAT)}
        ORDER BY coalesce(t.last_activity_at, h.created_at), h.name LIMIT ${surplus})`,
  )
}
