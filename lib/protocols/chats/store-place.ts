import type { Queries } from '../../storage/database.ts'
import { among, amongFound, isErasedAuthor, sql } from '../../storage/sql.ts'

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

const NOT_GONE = sql`m.role = 'assistant' AND m.deleted_at IS NULL AND NOT ${isErasedAuthor(sql`m.posted_by`)}`

/** The newest answer of a thread. By answers_by_arrival. */
export function findNewestAnswer(db: Queries, rootId: string): Promise<PlacedMessage | undefined> {
  return db.get<PlacedMessage>(
    sql`${PLACED} WHERE m.root_id = ${rootId} AND ${NOT_GONE} ORDER BY m.created_at DESC LIMIT 1`,
  )
}

/** The last answer among those at these paths of a thread; with `prompt`, to that question. By (root_id, path). */
export function findLastAnswer(
  db: Queries,
  { root_id, paths, prompt }: { root_id: string; paths: readonly string[]; prompt?: string | undefined },
): Promise<PlacedMessage | undefined> {
  return db.get<PlacedMessage>(
    sql`${PLACED} WHERE m.root_id = ${root_id} AND m.path ${among(db, paths)} AND ${NOT_GONE}
      ${prompt === undefined ? sql`` : sql`AND m.prompt = ${prompt}`} ORDER BY m.path DESC LIMIT 1`,
  )
}

/** An answer under way in a thread of these variants of a root that this user has asked for. By small tables. */
export async function findOwnUnderWay(db: Queries, setId: string, userId: string): Promise<string | undefined> {
  const row = await db.get<{ id: string }>(
    sql`SELECT m.id FROM messages m JOIN messages r ON r.id = m.root_id
      WHERE m.id ${amongFound(
        db,
        sql`${WRITTEN} UNION ALL SELECT c.message_id FROM tool_calls c WHERE c.user_id = ${userId} AND c.approval = 'waiting'`,
      )} AND m.posted_by = ${userId} AND coalesce(r.variant_of, r.id) = ${setId} LIMIT 1`,
  )
  return row?.id
}

const WRITTEN = sql`SELECT a.message_id FROM answers_under_way a`

/** By approvals_waiting. */
const WAITING = sql`SELECT c.message_id FROM tool_calls c WHERE c.approval = 'waiting'`

/** An answer under way. */
export interface RunningAnswer {
  message_id: string
  status: 'streaming' | 'waiting'
}

/**
 * The answer that is written in the chat that a user has named, or in the thread with that root: the newest one that the user
 * has asked for, else the newest one; of the variants of its root, too. With `waiting`, also one that waits for participants; with
 * `message_id`, that one alone; with `is_own`, none of others. By keys, and by small tables.
 */
export function findRunning(
  db: Queries,
  { user_id, name }: { user_id: string; name: string },
  { waiting, message_id, is_own = false }: { waiting: boolean; message_id?: string | undefined; is_own?: boolean },
): Promise<RunningAnswer | undefined> {
  const root = sql`coalesce((SELECT h.root_id FROM chats h WHERE h.user_id = ${user_id} AND h.name = ${name}), ${name})`
  const underWay = waiting ? sql`${WRITTEN} UNION ALL ${WAITING}` : WRITTEN
  return db.get<RunningAnswer>(
    sql`SELECT m.id AS message_id, m.status FROM messages m JOIN messages r ON r.id = m.root_id
      WHERE m.id ${amongFound(db, underWay)} AND m.role = 'assistant' AND m.deleted_at IS NULL
        AND coalesce(r.variant_of, r.id) = (SELECT coalesce(n.variant_of, n.id) FROM messages n WHERE n.id = ${root})
        ${is_own ? sql`AND m.posted_by = ${user_id}` : sql``}
        ${message_id === undefined ? sql`` : sql`AND m.id = ${message_id}`}
      ORDER BY CASE WHEN m.posted_by = ${user_id} THEN 0 ELSE 1 END, m.created_at DESC LIMIT 1`,
  )
}
