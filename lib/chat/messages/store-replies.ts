import { fromRepliers, lastRepliers, type Replier, toReplierIds, toRepliers } from '../../core/repliers.ts'
import { toInstant } from '../../core/time.ts'
import type { Queries } from '../../storage/database.ts'
import { RECENT_REPLIERS, REPLY_STATE_COLUMNS, STORED_REPLIERS } from '../../storage/reply-state.ts'
import { IS_UNLISTED_REPLIERS, REPLIERS_AS_OF } from '../../storage/schema/0058-last-repliers.ts'
import { among, isErasedAuthor, type Micros, sql } from '../../storage/sql.ts'
import type { ReplyState } from './schema.ts'

/** What is told of the replies of a thread, as the database returns it. */
export interface ReplyStateRow {
  root_id: string
  reply_count: number
  last_reply_at: Micros | null
  last_repliers: string
}

/** A row as responses and events have it. */
export function toReplyState({
  reply_count,
  last_reply_at,
  last_repliers,
}: ReplyStateRow): Omit<ReplyState, 'root_id'> {
  return {
    reply_count,
    ...(last_reply_at !== null && { last_reply_at: toInstant(last_reply_at) }),
    last_replier_ids: toReplierIds(last_repliers),
  }
}

/** What is told of the replies of threads, and their titles while the roots can be read. By primary keys, and (root_id, created_at, posted_by). */
export function listReplyStates(
  db: Queries,
  rootIds: Iterable<string>,
): Promise<(ReplyStateRow & { title: string | null })[]> {
  return db.all(
    sql`SELECT t.root_id, ${REPLY_STATE_COLUMNS},
          CASE WHEN root.deleted_at IS NULL AND NOT ${isErasedAuthor(sql`root.posted_by`)} THEN t.title END AS title
      FROM threads t JOIN messages root ON root.id = t.root_id
      WHERE t.root_id ${among(db, rootIds)}`,
  )
}

/** A change of who replied in a thread. */
export interface ReplierChange {
  /** Replies of it that no longer count as those of their author: of one arrival, or all. */
  removed?: { user_id: string; at?: Micros } | undefined
  /** A reply that counts again. */
  added?: Replier | undefined
}

/**
 * Stores who replied last in a thread after its messages were counted anew. Of the authors of earlier replies those that
 * were listed stay known. Costs the same for a thread of any length.
 */
export async function relistRepliers(tx: Queries, rootId: string, { removed, added }: ReplierChange): Promise<void> {
  if (!removed && !added) return
  const row = await tx.get<{ stored: string | null; recent: string }>(
    sql`SELECT ${STORED_REPLIERS} AS stored, ${RECENT_REPLIERS} AS recent FROM threads t WHERE t.root_id = ${rootId}`,
  )
  const isRemoved = ({ user_id, at }: Replier) =>
    user_id === removed?.user_id && (removed.at === undefined || removed.at === at)
  const others = toRepliers(row!.stored ?? '').filter((replier) => !isRemoved(replier))
  const list = lastRepliers([...toRepliers(row!.recent), ...others, ...(added ? [added] : [])])
  await tx.run(
    sql`UPDATE threads SET last_repliers = ${fromRepliers(list)}, repliers_as_of = ${REPLIERS_AS_OF}
      WHERE root_id = ${rootId}`,
  )
}

/** Whether there are threads with replies whose list is missing or wrong. By `threads_without_repliers`. */
export async function hasUnlistedRepliers(db: Queries): Promise<boolean> {
  return (await db.get(sql`SELECT root_id FROM threads WHERE ${IS_UNLISTED_REPLIERS} LIMIT 1`)) !== undefined
}

/**
 * Stores who replied last in up to `limit` such threads; none that another transaction has locked.
 *
 * @returns their number
 */
export async function listUnlistedRepliers(tx: Queries, limit: number): Promise<number> {
  // Locked by a statement of its own: the next one then sees all replies that are counted.
  const rows = await tx.all<{ root_id: string }>(
    sql`SELECT root_id FROM threads WHERE ${IS_UNLISTED_REPLIERS} LIMIT ${limit}
      ${tx.dialect === 'sqlite' ? sql`` : sql`FOR UPDATE SKIP LOCKED`}`,
  )
  if (rows.length === 0) return 0
  const ids = rows.map(({ root_id }) => root_id)
  await tx.run(
    sql`UPDATE threads AS t SET last_repliers = ${RECENT_REPLIERS}, repliers_as_of = ${REPLIERS_AS_OF}
      WHERE t.root_id ${among(tx, ids)}`,
  )
  return rows.length
}
