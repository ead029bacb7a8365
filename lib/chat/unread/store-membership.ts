import type { Queries } from '../../storage/database.ts'
import { among, isErasedAuthor, join, type Micros, sql } from '../../storage/sql.ts'
import type { MessageRow } from '../messages/store.ts'
import type { View } from '../timeline/schema.ts'
import type { ThreadReader } from './store.ts'

/** What of a message decides whether it is unread. */
type Candidate = Pick<MessageRow, 'id' | 'root_id' | 'posted_by' | 'created_at' | 'deleted_at'>

/** The ids of those among messages of one conversation that a reader has not read. By primary keys. */
export async function listUnreadAmong(
  db: Queries,
  { user_id, joined_at }: ThreadReader,
  messages: readonly Candidate[],
): Promise<Set<string>> {
  const news = messages.filter((m) => m.created_at > joined_at && m.posted_by !== user_id && m.deleted_at === null)
  if (news.length === 0) return new Set()
  const marks = await db.all<{ root_id: string; read_at: Micros }>(
    sql`SELECT root_id, read_at FROM thread_members
      WHERE root_id ${among(db, new Set(news.map((m) => m.root_id)))} AND user_id = ${user_id}`,
  )
  const readTo = new Map(marks.map(({ root_id, read_at }) => [root_id, read_at]))
  return new Set(news.filter((m) => m.created_at > (readTo.get(m.root_id) ?? 0)).map((m) => m.id))
}

/** Up to `limit` messages of a conversation that arrived after an instant, earliest first. By the indexes by arrival. */
export function listCandidates(
  db: Queries,
  { view, id, after, limit }: { view: View; id: string; after: Micros; limit: number },
): Promise<Candidate[]> {
  const kinds = view === 'roots' ? [sql`parent_id IS NULL`] : [sql`parent_id IS NULL`, sql`parent_id IS NOT NULL`]
  const firsts = kinds.map(
    (kind) => sql`SELECT * FROM (
      SELECT id, root_id, posted_by, created_at, CASE WHEN ${isErasedAuthor(sql`posted_by`)} THEN created_at
             ELSE deleted_at END AS deleted_at
        FROM messages WHERE conversation_id = ${id} AND ${kind} AND created_at > ${after}
       ORDER BY created_at LIMIT ${limit}) AS part`,
  )
  return db.all<Candidate>(
    sql`SELECT * FROM (${join(firsts, ' UNION ALL ')}) AS first ORDER BY created_at LIMIT ${limit}`,
  )
}
