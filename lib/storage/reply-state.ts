import { isErasedAuthor, literal, SOME_ERASED, type Sql, sql } from './sql.ts'

/** The live replies of a thread `t` that are being removed together with their author. */
const OF_ERASED = sql`(SELECT coalesce(sum(r.live_count
         - CASE WHEN root.posted_by = e.user_id AND root.deleted_at IS NULL THEN 1 ELSE 0 END), 0)
    FROM erased_authors e JOIN thread_members r ON r.root_id = t.root_id AND r.user_id = e.user_id
   WHERE e.messages = 'erase')`

/** No user is being erased: a guard, evaluated once, of a condition on each message. */
const NONE_ERASED = sql`NOT EXISTS (SELECT 1 FROM erased_authors)`

/** The live replies of a thread `t`, latest first. By (root_id, created_at, posted_by), without their rows. */
const latest = (columns: Sql, limit: number) => sql`SELECT ${columns} FROM messages m
     WHERE m.root_id = t.root_id AND m.deleted_at IS NULL AND m.created_at > t.created_at
       AND (${NONE_ERASED} OR NOT ${isErasedAuthor(sql`m.posted_by`)})
     ORDER BY m.created_at DESC LIMIT ${literal(limit)}`

/**
 * What a thread `t`, whose root is the message `root`, is told by: `reply_count`, `last_reply_at`, and `last_repliers`, the
 * ids of up to `named` authors of its `recent` latest replies, latest first, with commas between them. It costs the same for
 * a thread of any length.
 */
export function replyState({ named, recent }: { named: number; recent: number }): Sql {
  return sql`t.message_count - CASE WHEN root.deleted_at IS NULL THEN 1 ELSE 0 END
        - CASE WHEN ${SOME_ERASED} THEN ${OF_ERASED} ELSE 0 END AS reply_count,
      (${latest(sql`m.created_at`, 1)}) AS last_reply_at,
      (SELECT string_agg(posted_by, ',' ORDER BY at DESC) FROM (
        SELECT latest.posted_by, max(latest.created_at) AS at
          FROM (${latest(sql`m.posted_by, m.created_at`, recent)}) AS latest
         WHERE latest.posted_by IS NOT NULL
           AND (${NONE_ERASED}
             OR NOT EXISTS (SELECT 1 FROM erased_authors gone WHERE gone.user_id = latest.posted_by))
         GROUP BY latest.posted_by ORDER BY at DESC LIMIT ${literal(named)}) AS repliers) AS last_repliers`
}
