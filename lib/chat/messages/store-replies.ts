import { toInstant } from '../../core/time.ts'
import type { Queries } from '../../storage/database.ts'
import { replyState } from '../../storage/reply-state.ts'
import { among, isErasedAuthor, type Micros, sql } from '../../storage/sql.ts'
import { NAMED_REPLIERS, RECENT_REPLIES, type ReplyState } from './schema.ts'

/** What is told of the replies of a thread, as the database returns it. */
export interface ReplyStateRow {
  reply_count: number
  last_reply_at: Micros | null
  /** The ids of users with commas between them. */
  last_repliers: string | null
}

/** A row as responses and events have it. */
export function toReplyState({ reply_count, last_reply_at, last_repliers }: ReplyStateRow): ReplyState {
  return {
    reply_count,
    ...(last_reply_at !== null && { last_reply_at: toInstant(last_reply_at) }),
    last_replier_ids: last_repliers ? last_repliers.split(',') : [],
  }
}

/** What is told of the replies of threads, and their titles while the roots can be read. By primary keys, and (root_id, created_at, posted_by). */
export async function listReplyStates(
  db: Queries,
  rootIds: Iterable<string>,
): Promise<Map<string, ReplyState & { title?: string }>> {
  const columns = replyState({ named: NAMED_REPLIERS, recent: RECENT_REPLIES })
  const rows = await db.all<ReplyStateRow & { root_id: string; title: string | null }>(
    sql`SELECT t.root_id, ${columns},
          CASE WHEN root.deleted_at IS NULL AND NOT ${isErasedAuthor(sql`root.posted_by`)} THEN t.title END AS title
      FROM threads t JOIN messages root ON root.id = t.root_id
      WHERE t.root_id ${among(db, rootIds)}`,
  )
  return new Map(rows.map(({ root_id, title, ...row }) => [root_id, { ...(title && { title }), ...toReplyState(row) }]))
}
