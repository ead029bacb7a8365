import type { Queries } from './database.ts'
import { greatest, sql } from './sql.ts'
import {
  FOLLOWED_SINCE,
  HAS_NEWS,
  IS_COUNTED,
  type Reader,
  STORED_FOLLOWED,
  STORED_UNREAD_REPLIES,
  threadsOf,
  UNREAD_ROOT,
} from './unread-set.ts'

/** The parts of what is unread in a conversation, or in a thread of it. */
export interface UnreadParts {
  roots: number
  replies: number
  /** The replies that arrived since the reader follows their thread. */
  followed: number
  /** The threads with a reply that arrived since the reader follows them; in direct conversations, too. */
  threads: number
}

/** What is unread in a conversation by the stored counts, as the columns of a row. */
export interface CountedColumns {
  /** 0 if only `total` is certain. */
  is_counted: number
  total: number
  roots: number | null
  followed: number | null
}

/** The columns of {@link CountedColumns} of a conversation `c` and its participant `p`. */
export const countedUnread = (db: Queries) =>
  sql`CASE WHEN ${IS_COUNTED} THEN 1 ELSE 0 END AS is_counted,
      ${greatest(db.dialect)}(c.message_count - p.seen_count, 0) AS total,
      ${greatest(db.dialect)}(c.root_count - p.seen_roots, 0) AS roots, p.followed_unread AS followed`

const NONE: UnreadParts = { roots: 0, replies: 0, followed: 0, threads: 0 }

/**
 * The parts of what is unread in a thread, by the stored counts, which contain messages that are being removed with their
 * author; none for a user who does not participate. By primary keys.
 */
export async function countThread(tx: Queries, reader: Reader, rootId: string): Promise<UnreadParts> {
  const row = await tx.get<UnreadParts>(
    sql`SELECT ${UNREAD_ROOT} AS roots, ${STORED_UNREAD_REPLIES} AS replies, ${STORED_FOLLOWED} AS followed,
            ${HAS_NEWS} AS threads
      ${threadsOf(reader, sql`t.root_id = ${rootId}`)}`,
  )
  return row ?? NONE
}

/** What a mark has taken out of what is unread. */
export function difference(before: UnreadParts, after: UnreadParts): UnreadParts {
  return {
    roots: before.roots - after.roots,
    replies: before.replies - after.replies,
    followed: before.followed - after.followed,
    threads: before.threads - after.threads,
  }
}

/** Counts messages of a conversation as seen by a participant, or with negative numbers as unread. */
export async function addSeen(tx: Queries, reader: Reader, parts: Partial<UnreadParts>): Promise<void> {
  const { roots, replies, followed, threads } = { ...NONE, ...parts }
  await tx.run(
    sql`UPDATE participants SET seen_count = seen_count + ${roots + replies}, seen_roots = seen_roots + ${roots},
            seen_replies = seen_replies + ${replies}, followed_unread = followed_unread - ${followed},
            followed_threads = followed_threads - ${threads}
      WHERE conversation_id = ${reader.conversation_id} AND user_id = ${reader.user_id}`,
  )
}

/** Counts as seen all messages of the conversation but unread ones. @returns false if these were the numbers */
export async function setUnread(
  tx: Queries,
  { conversation_id, user_id }: Reader,
  { roots, replies, followed, threads }: UnreadParts,
): Promise<boolean> {
  const seen = sql`c.message_count - CAST(${roots + replies} AS BIGINT)`
  const seenRoots = sql`c.root_count - CAST(${roots} AS BIGINT)`
  const changed = await tx.run(
    sql`UPDATE participants SET seen_count = ${seen}, seen_roots = ${seenRoots}, seen_replies = ${seen} - (${seenRoots}),
            followed_unread = CAST(${followed} AS BIGINT), followed_threads = CAST(${threads} AS BIGINT)
       FROM conversations c
      WHERE c.id = participants.conversation_id AND participants.conversation_id = ${conversation_id}
        AND participants.user_id = ${user_id}
        AND (participants.seen_count <> ${seen} OR participants.seen_roots <> ${seenRoots}
             OR participants.followed_unread <> ${followed} OR participants.followed_threads <> ${threads})`,
  )
  return changed > 0
}

/** Stores since when an author follows a thread by a message of an older process that is restored. By primary keys. */
export async function storeFollowing(tx: Queries, reader: Reader, rootId: string): Promise<void> {
  await tx.run(sql`UPDATE thread_members SET followed_at = own.since
     FROM (SELECT ${FOLLOWED_SINCE} AS since
             ${threadsOf(reader, sql`t.root_id = ${rootId} AND r.followed_at IS NULL`)}) AS own
    WHERE root_id = ${rootId} AND user_id = ${reader.user_id} AND own.since IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM messages root WHERE root.id = ${rootId} AND root.posted_by = ${reader.user_id})`)
}
