import type { Queries } from '../../storage/database.ts'
import { type Micros, sql } from '../../storage/sql.ts'
import { IS_READ, MARKER } from '../../storage/unread-set.ts'

/** A read marker in a thread. */
export interface ReaderRow {
  user_id: string
  read_at: Micros
}

/**
 * The participants who share receipts, there and everywhere, with their markers of a thread. A marker from before the user
 * joined (again) is void. SQLite would look each user up by the primary key, and read its row: for a range it takes the
 * index of the users who do not share.
 */
const shown = ({ dialect }: Queries, conversationId: string, rootId: string) => sql`FROM participants p
    CROSS JOIN threads t LEFT JOIN thread_members r ON r.root_id = t.root_id AND r.user_id = p.user_id
   WHERE p.conversation_id = ${conversationId} AND t.root_id = ${rootId} AND p.receipts = 1
     AND NOT EXISTS (SELECT 1 FROM users u
                      WHERE u.id ${dialect === 'sqlite' ? sql`BETWEEN p.user_id AND p.user_id` : sql`= p.user_id`}
                          AND u.receipts = 0)`

/** Whether a participant shares what they read: in a conversation, and everywhere. By primary keys. */
export async function findSharing(
  db: Queries,
  conversationId: string,
  userId: string,
): Promise<{ here: boolean; everywhere: boolean }> {
  const row = await db.get<{ here: number; everywhere: number }>(
    sql`SELECT p.receipts AS here, u.receipts AS everywhere FROM participants p JOIN users u ON u.id = p.user_id
      WHERE p.conversation_id = ${conversationId} AND p.user_id = ${userId}`,
  )
  return { here: row?.here === 1, everywhere: row?.everywhere === 1 }
}

/** A message whose readers are searched. */
export interface ReadMessage {
  id: string
  conversation_id: string
  root_id: string
  posted_by: string | null
}

const read = (db: Queries, { id, conversation_id, root_id, posted_by }: ReadMessage) =>
  sql`${shown(db, conversation_id, root_id)} AND p.user_id <> ${posted_by ?? ''}
     AND EXISTS (SELECT 1 FROM messages m WHERE m.id = ${id} AND ${IS_READ})`

/** Up to `limit` readers of a message after one, by their ids: a marker may move between two pages. By primary keys. */
export function listReaders(db: Queries, message: ReadMessage, after: string, limit: number): Promise<ReaderRow[]> {
  return db.all<ReaderRow>(
    sql`SELECT p.user_id, ${MARKER} AS read_at ${read(db, message)} AND p.user_id > ${after}
      ORDER BY p.user_id LIMIT ${limit}`,
  )
}

/** The number of readers of a message. By primary keys. */
export async function countReaders(db: Queries, message: ReadMessage): Promise<number> {
  return (await db.get<{ total: number }>(sql`SELECT count(*) AS total ${read(db, message)}`))!.total
}

/** Up to `limit` markers in a thread, latest first. By primary keys. */
export function listMarkers(db: Queries, conversationId: string, rootId: string, limit: number): Promise<ReaderRow[]> {
  return db.all<ReaderRow>(
    sql`SELECT user_id, read_at FROM (SELECT p.user_id, ${MARKER} AS read_at ${shown(db, conversationId, rootId)}) AS markers
      WHERE read_at > 0 ORDER BY read_at DESC, user_id LIMIT ${limit}`,
  )
}
