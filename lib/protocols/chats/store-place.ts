import type { Queries } from '../../storage/database.ts'
import { among, isErasedAuthor, type Sql, sql } from '../../storage/sql.ts'

/** A message of a thread, as far as the place of a question depends on it. */
export interface PlacedMessage {
  id: string
  conversation_id: string
  root_id: string
  parent_id: string | null
  role: string
  /** The first of the variants of its root: equal for all messages of a chat. */
  set_id: string
  prompt: string | null
  is_gone: number
}

const PLACED = sql`SELECT m.id, m.conversation_id, m.root_id, m.parent_id, m.role, coalesce(r.variant_of, r.id) AS set_id, m.prompt,
    CASE WHEN m.deleted_at IS NOT NULL OR ${isErasedAuthor(sql`m.posted_by`)} THEN 1 ELSE 0 END AS is_gone
  FROM messages m JOIN messages r ON r.id = m.root_id`

/** These messages, in no order. By primary key. */
export function listPlaced(db: Queries, ids: readonly string[]): Promise<PlacedMessage[]> {
  return db.all<PlacedMessage>(sql`${PLACED} WHERE m.id ${among(db, ids)}`)
}

const NEWEST = sql`ORDER BY m.created_at DESC LIMIT 1`

/** The newest answer of a thread, or of those below one message. By messages_by_arrival, and by parent_id. */
export async function findNewestAnswer(
  db: Queries,
  where: { root_id: string } | { parent_id: string },
): Promise<PlacedMessage | undefined> {
  const place: Sql = 'root_id' in where ? sql`m.root_id = ${where.root_id}` : sql`m.parent_id = ${where.parent_id}`
  return db.get<PlacedMessage>(
    sql`${PLACED} WHERE ${place} AND m.role = 'assistant' AND m.deleted_at IS NULL
        AND NOT ${isErasedAuthor(sql`m.posted_by`)} ${NEWEST}`,
  )
}

/** An answer under way in a thread of these variants of a root that this user has asked for. By small tables. */
export async function findOwnUnderWay(db: Queries, setId: string, userId: string): Promise<string | undefined> {
  const inSet = sql`EXISTS (SELECT 1 FROM messages r WHERE r.id = m.root_id AND coalesce(r.variant_of, r.id) = ${setId})`
  const row = await db.get<{ message_id: string }>(
    sql`SELECT a.message_id FROM answers_under_way a JOIN messages m ON m.id = a.message_id
      WHERE m.posted_by = ${userId} AND ${inSet}
      UNION SELECT c.message_id FROM tool_calls c JOIN messages m ON m.id = c.message_id
      WHERE c.user_id = ${userId} AND c.approval = 'waiting' AND ${inSet}
      LIMIT 1`,
  )
  return row?.message_id
}

/** An answer under way. */
export interface RunningAnswer {
  message_id: string
  status: 'streaming' | 'waiting'
}

/**
 * The newest answer that is written in the chat that a user has named, or in the thread with that root; with `waiting`, also one
 * that waits for participants. By keys, and by small tables.
 */
export function findRunning(
  db: Queries,
  { user_id, name }: { user_id: string; name: string },
  { waiting }: { waiting: boolean },
): Promise<RunningAnswer | undefined> {
  const inChat = sql`m.root_id = coalesce((SELECT h.root_id FROM chats h WHERE h.user_id = ${user_id} AND h.name = ${name}), ${name})`
  const written = sql`SELECT m.id AS message_id, m.status, m.created_at
       FROM answers_under_way a JOIN messages m ON m.id = a.message_id WHERE m.role = 'assistant' AND ${inChat}`
  const stopped = sql`UNION SELECT m.id, m.status, m.created_at
       FROM messages m WHERE m.status = 'waiting' AND m.deleted_at IS NULL AND ${inChat}`
  return db.get<RunningAnswer>(
    sql`SELECT message_id, status FROM (${written} ${waiting ? stopped : sql``}) running
      ORDER BY created_at DESC LIMIT 1`,
  )
}
