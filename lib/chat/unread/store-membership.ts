import type { Queries } from '../../storage/database.ts'
import { among, isErasedAuthor, join, type Micros, sql } from '../../storage/sql.ts'
import { IS_UNREAD } from '../../storage/unread-set.ts'
import type { MessageRow } from '../messages/store.ts'
import type { View } from '../timeline/schema.ts'
import type { ThreadReader } from './store.ts'

/** What of a message decides whether it is unread. */
type Candidate = Pick<MessageRow, 'id' | 'root_id' | 'posted_by' | 'created_at' | 'deleted_at'>

/** The ids of those among messages of one conversation that a reader has not read. By primary keys. */
export async function listUnreadAmong(
  db: Queries,
  { user_id, conversation_id, joined_at }: ThreadReader,
  messages: readonly Candidate[],
): Promise<Set<string>> {
  const news = messages.filter((m) => m.created_at > joined_at && m.posted_by !== user_id && m.deleted_at === null)
  if (news.length === 0) return new Set()
  const ids = news.map(({ id }) => id)
  const rows = await db.all<{ id: string }>(
    sql`SELECT m.id FROM participants p CROSS JOIN messages m
        JOIN threads t ON t.root_id = m.root_id
        LEFT JOIN thread_members r ON r.root_id = m.root_id AND r.user_id = p.user_id
       WHERE p.conversation_id = ${conversation_id} AND p.user_id = ${user_id} AND m.id ${among(db, ids)}
         AND ${IS_UNREAD}`,
  )
  return new Set(rows.map(({ id }) => id))
}

/** The arrival of the earliest root that a reader has marked unread since a mark of all roots. By `unread_roots`. */
export async function findMarkedRoot(
  db: Queries,
  { user_id, conversation_id, joined_at, roots_read_at }: ThreadReader,
): Promise<Micros | undefined> {
  const row = await db.get<{ at: Micros | null }>(
    sql`SELECT min(m.created_at) AS at FROM thread_members r JOIN messages m ON m.id = r.root_id
      WHERE r.user_id = ${user_id} AND r.reopened_in = ${conversation_id} AND r.root_unread_at > ${roots_read_at}
        AND r.root_unread_at > 0 AND m.created_at > ${joined_at} AND m.deleted_at IS NULL
        AND coalesce(m.posted_by, '') <> ${user_id} AND NOT ${isErasedAuthor(sql`m.posted_by`)}`,
  )
  return row?.at ?? undefined
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
