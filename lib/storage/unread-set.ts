import { type Sql, sql } from './sql.ts'

/**
 * The unread messages of a participant as parts of SQL: of a row `p` of participants, `t` of threads, and `r`, the row of
 * the participant among the members of the thread, if there is one.
 */

/** A participant who reads. */
export interface Reader {
  user_id: string
  conversation_id: string
}

/** A reader as a row `p` beside threads `t` of the conversation, which the condition names, with the row `r` of the member. */
export const threadsOf = ({ user_id, conversation_id }: Reader, condition: Sql): Sql =>
  sql`FROM participants p CROSS JOIN threads t
      LEFT JOIN thread_members r ON r.root_id = t.root_id AND r.user_id = p.user_id
     WHERE p.conversation_id = ${conversation_id} AND p.user_id = ${user_id} AND ${condition}`

/** As {@link threadsOf}, threads of any conversations of a user, which the condition names. Joined in this order. */
export const threadsOfUser = (userId: string, condition: Sql): Sql =>
  sql`FROM threads t CROSS JOIN participants p
      LEFT JOIN thread_members r ON r.root_id = t.root_id AND r.user_id = p.user_id
     WHERE p.conversation_id = t.conversation_id AND p.user_id = ${userId} AND ${condition}`

/** How far the participant has read the conversation. */
export const READ_FLOORS = sql`p.joined_at, p.replies_read_to, p.roots_read_to, p.replies_read_at, p.roots_read_at`

/** The arrival up to which the participant has read the replies of the thread: at least the time of joining. */
export const SEEN_TO = sql`CASE
    WHEN p.replies_read_to > p.joined_at AND p.replies_read_to > coalesce(r.read_at, 0)
         AND coalesce(r.reopened_at, 0) <= p.replies_read_at THEN p.replies_read_to
    WHEN r.read_at > p.joined_at THEN r.read_at
    ELSE p.joined_at END`

/** Whether the root of the thread is unread, if another user wrote it. */
export const ROOT_IS_UNREAD = sql`(t.created_at > p.joined_at AND (coalesce(r.root_unread_at, 0) > p.roots_read_at
    OR (t.created_at > p.roots_read_to AND coalesce(r.read_at, 0) < t.created_at)))`

/** Whether a message `m` of the thread is unread. */
export const IS_UNREAD = sql`(coalesce(m.posted_by, '') <> p.user_id
    AND CASE WHEN m.parent_id IS NULL THEN ${ROOT_IS_UNREAD} ELSE m.created_at > ${SEEN_TO} END)`

/** The own marker of the thread, if it is from after joining. */
const OWN_MARKER = sql`CASE WHEN r.read_at > p.joined_at THEN r.read_at ELSE 0 END`

/**
 * The arrival of the last message of the thread that the participant has read by a marker, of the thread or of the
 * conversation; 0 without one. A marker of the conversation reads only what arrived since joining: nothing else was unread.
 */
export const MARKER = sql`CASE
    WHEN ${SEEN_TO} > p.joined_at AND ${SEEN_TO} >= t.last_activity_at AND t.last_activity_at > p.joined_at
      THEN t.last_activity_at
    WHEN ${SEEN_TO} > p.joined_at AND ${SEEN_TO} = r.read_at THEN r.read_at
    WHEN ${SEEN_TO} > p.joined_at AND ${SEEN_TO} >= t.created_at THEN
      coalesce((SELECT max(m.created_at) FROM messages m
                 WHERE m.root_id = t.root_id AND m.created_at > p.joined_at AND m.created_at <= ${SEEN_TO}), ${OWN_MARKER})
    WHEN t.created_at > p.joined_at AND NOT ${ROOT_IS_UNREAD} THEN t.created_at
    ELSE 0 END`

/**
 * Whether a marker of the participant has read a message `m` of the thread. A marker of the thread reads all before it,
 * one of the conversation only what arrived since joining.
 */
export const IS_READ = sql`CASE WHEN m.created_at <= p.joined_at THEN ${OWN_MARKER} > 0
    WHEN m.parent_id IS NULL THEN NOT ${ROOT_IS_UNREAD}
    ELSE ${SEEN_TO} >= m.created_at END`

/** The number of messages of others that are not deleted. */
export const OTHERS = sql`t.message_count - coalesce(r.live_count, 0)`

/** 1 if the root of the thread is a message of another user that is not deleted. */
const ROOT_COUNTS = sql`(SELECT count(*) FROM messages m
    WHERE m.id = t.root_id AND m.deleted_at IS NULL AND coalesce(m.posted_by, '') <> p.user_id)`

// With a marker of the thread, or in a thread that began later, the number is a subtraction of counters; otherwise the
// messages are counted.
const AFTER = sql`CASE WHEN ${SEEN_TO} < t.created_at THEN ${OTHERS}
    WHEN ${SEEN_TO} = r.read_at THEN ${OTHERS} - r.read_count
    WHEN ${SEEN_TO} >= t.last_activity_at THEN 0
    ELSE (SELECT count(*) FROM messages m
           WHERE m.root_id = t.root_id AND m.created_at > ${SEEN_TO} AND m.deleted_at IS NULL
             AND coalesce(m.posted_by, '') <> p.user_id)
  END`

/** 1 if the root of the thread is unread, and not deleted. */
export const UNREAD_ROOT = sql`CASE WHEN ${ROOT_IS_UNREAD} THEN ${ROOT_COUNTS} ELSE 0 END`

/** The number of unread messages of the thread. It contains those that are being removed with their author. */
export const STORED_UNREAD = sql`(${AFTER} + CASE
    WHEN ${SEEN_TO} < t.created_at AND NOT ${ROOT_IS_UNREAD} THEN -${ROOT_COUNTS}
    WHEN ${SEEN_TO} >= t.created_at AND ${ROOT_IS_UNREAD} THEN ${ROOT_COUNTS}
    ELSE 0 END)`

/** As {@link STORED_UNREAD}, of the replies alone. */
export const STORED_UNREAD_REPLIES = sql`(${AFTER} - CASE WHEN ${SEEN_TO} < t.created_at THEN ${ROOT_COUNTS} ELSE 0 END)`

/**
 * Whether a member `f` may follow the thread: all who do but the author of the root, and the users of a direct conversation,
 * before the first reply. By `followers_of_thread`.
 */
export const MAY_FOLLOW = sql`(f.followed_at IS NOT NULL OR f.listed_at IS NOT NULL)`

/** Whether the participant has stopped following the thread, since joining. */
export const WANTS_NO_FOLLOWING = sql`coalesce(r.followed_at, 0) < -p.joined_at`

/**
 * Since when the participant follows the thread: in a direct conversation and as the author of its root since it began, as
 * another author since the first message of theirs, or as it is stored; NULL for one who does not follow.
 */
const followedSince = (fromTheBeginning: Sql): Sql => sql`CASE
    WHEN r.followed_at > p.joined_at THEN r.followed_at
    WHEN ${WANTS_NO_FOLLOWING} THEN NULL
    WHEN t.created_at > p.joined_at AND ${fromTheBeginning} THEN t.created_at
    WHEN r.live_count > 0 THEN
      (SELECT min(m.created_at) FROM messages m
        WHERE m.root_id = t.root_id AND m.posted_by = p.user_id AND m.deleted_at IS NULL
          AND m.created_at > p.joined_at)
    END`

const IS_AUTHOR = sql`EXISTS (SELECT 1 FROM messages m WHERE m.id = t.root_id AND m.posted_by = p.user_id)`

export const FOLLOWED_SINCE = followedSince(
  sql`(${IS_AUTHOR} OR EXISTS (SELECT 1 FROM conversations c WHERE c.id = p.conversation_id AND c.is_direct = 1))`,
)

/** As {@link FOLLOWED_SINCE}, outside of direct conversations, with the row `root` of the root's message. */
export const FOLLOWED_SINCE_IN_GROUP = followedSince(sql`root.posted_by = p.user_id`)

/**
 * Up to which arrival the participant has read replies by marks of the whole conversation, or by joining: without an
 * exception, what arrived up to it counts as read in each thread.
 */
export const READ_FLOOR = sql`CASE WHEN p.replies_read_to > p.joined_at THEN p.replies_read_to ELSE p.joined_at END`

/** Whether the participant follows the thread, and it has had a reply: it is in the list of threads that a user follows. */
const IS_LISTED = sql`t.last_activity_at > t.created_at AND ${FOLLOWED_SINCE} IS NOT NULL`

/** The arrival of the latest reply of another user since the participant follows the thread. */
const NEWS = sql`(SELECT max(m.created_at) FROM messages m
    WHERE m.root_id = t.root_id AND m.created_at > t.created_at AND m.created_at >= ${FOLLOWED_SINCE}
      AND m.deleted_at IS NULL AND coalesce(m.posted_by, '') <> p.user_id)`

/** 1 if the arrival of the latest news of a thread that the participant follows is unread. */
const hasNews = (newsAt: Sql) => sql`CASE WHEN ${newsAt} > ${SEEN_TO} THEN 1 ELSE 0 END`

/** 1 if the participant follows the thread, and a reply of another user since then is unread. */
export const HAS_NEWS = hasNews(sql`r.news_at`)

/** What the rows `r` of members have of the list of followed threads, if it is right. @param from `t` and `r` */
export const entries = (from: Sql) => sql`(SELECT r.root_id, r.user_id,
    CASE WHEN ${IS_LISTED} THEN t.conversation_id END AS listed_in,
    CASE WHEN ${IS_LISTED} THEN t.last_activity_at END AS listed_at,
    CASE WHEN ${IS_LISTED} THEN ${NEWS} END AS news_at
   FROM ${from} JOIN participants p ON p.conversation_id = t.conversation_id AND p.user_id = r.user_id)`

/** Whether a row `x` of a member differs from its {@link entries}, `entry`. */
export const IS_ENTRY_WRONG = sql`(coalesce(x.listed_at, 0) <> coalesce(entry.listed_at, 0)
  OR coalesce(x.news_at, 0) <> coalesce(entry.news_at, 0))`

/** Makes the entries of members of threads right; the rows that are right stay as they are. @param from as {@link entries} */
export const relist = (from: Sql) => sql`UPDATE thread_members AS x
    SET listed_in = entry.listed_in, listed_at = entry.listed_at, news_at = entry.news_at
   FROM ${entries(from)} AS entry
  WHERE x.root_id = entry.root_id AND x.user_id = entry.user_id AND ${IS_ENTRY_WRONG}`

/**
 * Counts the threads with news of participants as {@link relist} changes them. It must see the rows of before.
 *
 * @param from as {@link entries}
 */
export const countRelisted = (from: Sql) => sql`UPDATE participants
    SET followed_threads = participants.followed_threads + changes.threads
   FROM (SELECT p.conversation_id, p.user_id, sum(${hasNews(sql`entry.news_at`)} - ${HAS_NEWS}) AS threads
           FROM ${entries(from)} AS entry
           JOIN thread_members r ON r.root_id = entry.root_id AND r.user_id = entry.user_id
           JOIN threads t ON t.root_id = r.root_id
           JOIN participants p ON p.conversation_id = t.conversation_id AND p.user_id = r.user_id
          GROUP BY p.conversation_id, p.user_id) AS changes
  WHERE participants.conversation_id = changes.conversation_id AND participants.user_id = changes.user_id
    AND changes.threads <> 0`

/** All threads but those that are not in lists yet. */
const LISTED_THREADS = sql`threads t JOIN thread_members r ON r.root_id = t.root_id AND t.listed_to = t.last_activity_at`
export const ENTRIES = entries(LISTED_THREADS)
export const RELIST = relist(LISTED_THREADS)
const IS_DIRECT = sql`EXISTS (SELECT 1 FROM conversations c WHERE c.id = p.conversation_id AND c.is_direct = 1)`

/** Whether a reply that arrived at an instant is unread, and arrived since the participant follows the thread. */
export const isFollowedUnread = (arrival: Sql) =>
  sql`(${arrival} > ${SEEN_TO} AND ${arrival} >= ${FOLLOWED_SINCE} AND NOT ${IS_DIRECT})`

/**
 * The number of unread replies of the thread that arrived since the participant follows it; 0 in a direct conversation, in
 * which all replies are. It contains those that are being removed with their author.
 */
export const STORED_FOLLOWED = sql`CASE WHEN t.last_activity_at <= ${SEEN_TO} OR ${IS_DIRECT} THEN 0 ELSE
    coalesce((SELECT CASE WHEN f.since <= t.created_at OR f.since <= ${SEEN_TO} THEN ${STORED_UNREAD_REPLIES}
             ELSE (SELECT count(*) FROM messages m
                    WHERE m.root_id = t.root_id AND m.created_at > ${SEEN_TO} AND m.created_at >= f.since
                      AND m.deleted_at IS NULL AND coalesce(m.posted_by, '') <> p.user_id) END
       FROM (SELECT ${FOLLOWED_SINCE} AS since) AS f WHERE f.since IS NOT NULL), 0) END`

/**
 * Whether the parts of what is unread are counted: not where an older process has changed the log of the conversation `c`, or
 * what the participant has seen.
 */
export const IS_COUNTED = sql`coalesce(c.counted_seq = c.last_seq AND p.seen_roots + p.seen_replies = p.seen_count
    AND p.followed_unread >= 0 AND p.followed_threads >= 0, false)`

/** The roots of a conversation that are not deleted. By `roots_by_arrival`. */
export const ROOT_COUNT = sql`(SELECT count(*) FROM messages m
    WHERE m.conversation_id = conversations.id AND m.parent_id IS NULL AND m.deleted_at IS NULL)`

/** A number of all threads of the conversation of a participant `p`, summed. */
const sumOf = (number: Sql) => sql`(SELECT CAST(coalesce(sum(${number}), 0) AS BIGINT)
     FROM threads t LEFT JOIN thread_members r ON r.root_id = t.root_id AND r.user_id = p.user_id
    WHERE t.conversation_id = p.conversation_id AND t.last_activity_at > p.joined_at)`

/** The seen roots, the unread replies of followed threads, and these threads, of a participant `p`, from the threads. */
export const SEEN_ROOTS = sql`((SELECT c.root_count FROM conversations c WHERE c.id = p.conversation_id)
    - ${sumOf(UNREAD_ROOT)})`
export const FOLLOWED_UNREAD = sumOf(STORED_FOLLOWED)
export const FOLLOWED_THREADS = sumOf(HAS_NEWS)

/**
 * The unread replies of a thread `t` that arrived since the participant `p` follows it, with the row `r` of the member. A
 * subtraction of counters unless the participant began to follow after the last mark.
 */
export const UNREAD_FOLLOWED = sql`(SELECT CASE
    WHEN f.since IS NULL THEN 0
    WHEN f.since <= f.seen OR f.since <= t.created_at THEN ${STORED_UNREAD_REPLIES}
    ELSE (SELECT count(*) FROM messages m
           WHERE m.root_id = t.root_id AND m.parent_id IS NOT NULL AND m.created_at >= f.since AND m.deleted_at IS NULL
             AND coalesce(m.posted_by, '') <> p.user_id)
    END FROM (SELECT ${FOLLOWED_SINCE} AS since, ${SEEN_TO} AS seen) AS f)`

/** The messages of a conversation that a participant `p` has seen, from the counts of the conversation and its threads. */
export const SEEN_COUNT = sql`((SELECT c.message_count FROM conversations c WHERE c.id = p.conversation_id) -
  ${sumOf(STORED_UNREAD)})`

/** Recomputes what all participants have seen, the unread replies of threads that they follow, and the threads that have some. */
export const RECOUNT_SEEN = sql`UPDATE participants AS p SET seen_count = ${SEEN_COUNT}, seen_roots = ${SEEN_ROOTS},
    seen_replies = ${SEEN_COUNT} - ${SEEN_ROOTS}, followed_unread = ${FOLLOWED_UNREAD},
    followed_threads = ${FOLLOWED_THREADS}`
