import type { Queries } from '../../storage/database.ts'
import type { Micros } from '../../storage/sql.ts'

/** A read marker in a thread. */
export interface ReaderRow {
  user_id: string
  read_at: Micros
}

/**
 * The markers of users who share receipts, there and everywhere. A marker from before the user joined (again) is void.
 * SQLite would look each user up by the primary key, and read its row: for a range it takes the index of the users who
 * do not share.
 */
const shown = (dialect: Queries['dialect']) => `FROM thread_members r
    JOIN participants p ON p.conversation_id = ? AND p.user_id = r.user_id
   WHERE r.root_id = ? AND r.read_at > 0 AND r.read_at >= p.joined_at AND p.receipts = 1
     AND NOT EXISTS (SELECT 1 FROM users u
                      WHERE u.id ${dialect === 'sqlite' ? 'BETWEEN r.user_id AND r.user_id' : '= r.user_id'} AND u.receipts = 0)`

/** Whether a participant shares what they read: in a conversation, and everywhere. By primary keys. */
export async function findSharing(
  db: Queries,
  conversationId: string,
  userId: string,
): Promise<{ here: boolean; everywhere: boolean }> {
  const row = await db.get<{ here: number; everywhere: number }>(
    `SELECT p.receipts AS here, u.receipts AS everywhere FROM participants p JOIN users u ON u.id = p.user_id
      WHERE p.conversation_id = ? AND p.user_id = ?`,
    conversationId,
    userId,
  )
  return { here: row?.here === 1, everywhere: row?.everywhere === 1 }
}

/** A message whose readers are searched. */
export interface ReadMessage {
  conversation_id: string
  root_id: string
  posted_by: string | null
  created_at: Micros
}

const read = (dialect: Queries['dialect']) => `${shown(dialect)} AND r.read_at >= ? AND r.user_id <> ?`
const readParameters = ({ conversation_id, root_id, created_at, posted_by }: ReadMessage) =>
  [conversation_id, root_id, created_at, posted_by ?? ''] as const

/** Up to `limit` readers of a message after one, by their ids: a marker may move between two pages. By primary keys. */
export function listReaders(db: Queries, message: ReadMessage, after: string, limit: number): Promise<ReaderRow[]> {
  return db.all<ReaderRow>(
    `SELECT r.user_id, r.read_at ${read(db.dialect)} AND r.user_id > ? ORDER BY r.user_id LIMIT ?`,
    ...readParameters(message),
    after,
    limit,
  )
}

/** The number of readers of a message. By primary keys. */
export async function countReaders(db: Queries, message: ReadMessage): Promise<number> {
  return (await db.get<{ total: number }>(`SELECT count(*) AS total ${read(db.dialect)}`, ...readParameters(message)))!
    .total
}

/** Up to `limit` markers in a thread, latest first. By primary keys. */
export function listMarkers(db: Queries, conversationId: string, rootId: string, limit: number): Promise<ReaderRow[]> {
  return db.all<ReaderRow>(
    `SELECT r.user_id, r.read_at ${shown(db.dialect)} ORDER BY r.read_at DESC, r.user_id LIMIT ?`,
    conversationId,
    rootId,
    limit,
  )
}
