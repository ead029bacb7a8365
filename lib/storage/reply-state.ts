import { NAMED_REPLIERS } from '../core/repliers.ts'
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

/** Whether the stored list of a thread `t` is right, and names no user who is being erased. */
const IS_LISTED = sql`t.repliers_as_of = t.last_activity_at + t.message_count AND ${NONE_ERASED}`

/** When the latest live reply of a thread `t` arrived; NULL without one. */
export const LAST_REPLY_AT = sql`(${latest(sql`m.created_at`, 1)})`

/**
 * Who replied last in a thread `t`, as it is stored: '' where nothing but the root was posted, NULL if it must be computed.
 */
export const STORED_REPLIERS = sql`CASE WHEN t.last_activity_at = t.created_at THEN ''
    WHEN ${IS_LISTED} THEN t.last_repliers END`

/** In how many of the latest replies of a thread these users are looked for, where the list of them is not stored. */
export const RECENT_REPLIES = 200

/**
 * Who replied last in a thread `t`: up to {@link NAMED_REPLIERS} authors of its {@link RECENT_REPLIES} latest replies, the
 * latest first, in the form in which it is stored. It costs the same for a thread of any length.
 */
export const RECENT_REPLIERS = sql`coalesce((SELECT string_agg(posted_by || ':' || at, ',' ORDER BY at DESC) FROM (
        SELECT latest.posted_by, max(latest.created_at) AS at
          FROM (${latest(sql`m.posted_by, m.created_at`, RECENT_REPLIES)}) AS latest
         WHERE latest.posted_by IS NOT NULL
           AND (${NONE_ERASED}
             OR NOT EXISTS (SELECT 1 FROM erased_authors gone WHERE gone.user_id = latest.posted_by))
         GROUP BY latest.posted_by ORDER BY at DESC LIMIT ${literal(NAMED_REPLIERS)}) AS repliers), '')`

/** Who replied last in a thread `t`. */
export const LAST_REPLIERS = sql`coalesce(${STORED_REPLIERS}, ${RECENT_REPLIERS})`

/** The number of messages of a thread `t` that are not deleted, without its root. @param rootDeletedAt of the root */
export const replyCount = (rootDeletedAt: Sql) =>
  sql`t.message_count - CASE WHEN ${rootDeletedAt} IS NULL THEN 1 ELSE 0 END`

/**
 * Whether the stored list of a thread `t` is wrong: it begins with what its latest replies say, and has more of a thread
 * alone that has more replies.
 */
export const IS_LIST_WRONG = sql`(t.last_activity_at > t.created_at AND ${IS_LISTED} AND NOT CASE
    WHEN t.message_count <= ${literal(RECENT_REPLIES)} THEN coalesce(t.last_repliers, '-') = ${RECENT_REPLIERS}
    ELSE coalesce(t.last_repliers, '-') || ',' LIKE ${RECENT_REPLIERS} || '%' END)`

/** What a thread `t`, whose root is the message `root`, is told by: `reply_count`, `last_reply_at`, and `last_repliers`. */
export const REPLY_STATE_COLUMNS = sql`${replyCount(sql`root.deleted_at`)}
        - CASE WHEN ${SOME_ERASED} THEN ${OF_ERASED} ELSE 0 END AS reply_count,
      ${LAST_REPLY_AT} AS last_reply_at,
      ${LAST_REPLIERS} AS last_repliers`
