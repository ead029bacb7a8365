import { IS_LIST_WRONG, RECENT_REPLIERS } from '../../storage/reply-state.ts'
import { MESSAGE_COUNT, RECOUNT_MESSAGES } from '../../storage/schema/0012-unread-totals.ts'
import { PARTICIPANT_COUNT, RECOUNT_PARTICIPANTS } from '../../storage/schema/0029-participant-counts.ts'
import { RECOUNT_MENTIONS, UNREAD_MENTIONS } from '../../storage/schema/0056-notification-scopes.ts'
import { REPLIERS_AS_OF } from '../../storage/schema/0058-last-repliers.ts'
import { type Sql, sql } from '../../storage/sql.ts'
import {
  ENTRIES,
  FOLLOWED_THREADS,
  FOLLOWED_UNREAD,
  IS_COUNTED,
  IS_ENTRY_WRONG,
  RECOUNT_SEEN,
  RELIST,
  ROOT_COUNT,
  SEEN_COUNT,
  SEEN_ROOTS,
  UNREAD_FOLLOWED,
} from '../../storage/unread-set.ts'
import { type Invariant, messagesWhere } from './invariant.ts'

const LIVE = sql`SUM(CASE WHEN deleted_at IS NULL THEN 1 ELSE 0 END)`
const PEOPLE = sql`COUNT(DISTINCT CASE WHEN deleted_at IS NULL THEN coalesce(posted_by, '') END)`

/**
 * The number of messages a user wrote in a thread, and of messages of others that the user has read; `r` is the user's
 * row.
 */
const WRITTEN = sql`(SELECT count(*) FROM messages m
  WHERE m.root_id = r.root_id AND m.deleted_at IS NULL AND coalesce(m.posted_by, '') = r.user_id)`
const READ = sql`(SELECT count(*) FROM messages m
  WHERE m.root_id = r.root_id AND m.deleted_at IS NULL AND coalesce(m.posted_by, '') <> r.user_id AND m.created_at <= r.read_at)`

/** The number of replies of each message. */
const REPLIES = sql`(SELECT p.id, count(m.id) AS total FROM messages p LEFT JOIN messages m ON m.parent_id = p.id GROUP BY p.id)`

/** The time of the latest message of a conversation. */
const LATEST = (id: Sql) => sql`(SELECT max(t.last_activity_at) FROM threads t WHERE t.conversation_id = ${id})`

/** The unread notifications `n` of threads without an unread message. */
const OVER = sql`FROM notifications n JOIN threads t ON t.root_id = n.scope_id
   JOIN participants p ON p.conversation_id = t.conversation_id AND p.user_id = n.user_id
   LEFT JOIN thread_members r ON r.root_id = t.root_id AND r.user_id = n.user_id
  WHERE n.scope_id IS NOT NULL AND n.read_at IS NULL AND n.hidden = 0 AND ${UNREAD_FOLLOWED} = 0`

/** Whether the user of a member `x` of a thread `t` does not participate in its conversation. */
const IS_OUTSIDE = sql`NOT EXISTS (
  SELECT 1 FROM participants p WHERE p.conversation_id = t.conversation_id AND p.user_id = x.user_id)`

/** The invariants of counts: what they count is in other rows, so most of them can be repaired. */
export const COUNTS: Invariant[] = [
  {
    name: 'messages.reply_count',
    apart: true,
    says: 'The reply count of a message is the number of its replies.',
    find: sql`SELECT id FROM (
             SELECT id, reply_count AS total FROM messages WHERE reply_count <> 0
             UNION ALL SELECT parent_id, -1 FROM messages WHERE parent_id IS NOT NULL) AS each
            GROUP BY id HAVING sum(total) <> 0`,
    repair: sql`UPDATE messages SET reply_count = r.total
               FROM ${REPLIES} AS r WHERE r.id = messages.id AND messages.reply_count <> r.total`,
  },
  {
    name: 'threads.counts',
    says: 'A thread has the correct counts of messages and authors, and the time of the latest message.',
    // The authors are counted in their own rows, which `unread.written` and `unread.members` compare with the messages.
    find: sql`SELECT t.root_id AS id FROM threads t
             JOIN (SELECT root_id, ${LIVE} AS live, max(created_at) AS latest
                     FROM messages GROUP BY root_id) m ON m.root_id = t.root_id
             LEFT JOIN (SELECT root_id, count(*) AS people
                          FROM thread_members WHERE live_count > 0 GROUP BY root_id) p ON p.root_id = t.root_id
            WHERE t.message_count <> m.live OR t.participant_count <> coalesce(p.people, 0)
               OR t.last_activity_at <> m.latest`,
    repair: sql`UPDATE threads SET
               message_count = (SELECT ${LIVE} FROM messages m WHERE m.root_id = threads.root_id),
               participant_count = (SELECT ${PEOPLE} FROM messages m WHERE m.root_id = threads.root_id),
               last_activity_at = (SELECT max(created_at) FROM messages m WHERE m.root_id = threads.root_id)
             WHERE EXISTS (SELECT 1 FROM messages m WHERE m.root_id = threads.root_id)`,
  },
  {
    name: 'last-repliers',
    says: 'A thread names the users who replied last.',
    find: sql`SELECT t.root_id AS id FROM threads t WHERE ${IS_LIST_WRONG}`,
    repair: sql`UPDATE threads AS t SET last_repliers = ${RECENT_REPLIERS}, repliers_as_of = ${REPLIERS_AS_OF}
              WHERE ${IS_LIST_WRONG}`,
  },
  {
    name: 'unread.written',
    says: 'The number of messages a user wrote in a thread is correct.',
    find: sql`SELECT r.root_id AS id FROM thread_members r
             LEFT JOIN (SELECT root_id, coalesce(posted_by, '') AS user_id, count(*) AS total FROM messages
                         WHERE deleted_at IS NULL GROUP BY root_id, coalesce(posted_by, '')) m
               ON m.root_id = r.root_id AND m.user_id = r.user_id
            WHERE r.live_count <> coalesce(m.total, 0)`,
    repair: sql`UPDATE thread_members AS r SET live_count = ${WRITTEN}`,
  },
  {
    name: 'unread.read',
    says: 'The number of messages a user has read in a thread is correct.',
    find: sql`SELECT r.root_id AS id FROM thread_members r WHERE r.read_at > 0 AND r.read_count <> ${READ}`,
    repair: sql`UPDATE thread_members AS r SET read_count = ${READ} WHERE r.read_at > 0`,
  },
  {
    name: 'unread.members',
    says: 'Every author of a thread has a row in `thread_members`.',
    ...messagesWhere(
      sql`m.deleted_at IS NULL AND NOT EXISTS (
         SELECT 1 FROM thread_members r WHERE r.root_id = m.root_id AND r.user_id = coalesce(m.posted_by, ''))`,
    ),
  },
  {
    name: 'unread.marks',
    says: 'A row with a read marker has the conversation of its thread; a row without one has none.',
    find: sql`SELECT r.root_id AS id FROM thread_members r JOIN threads t ON t.root_id = r.root_id
            WHERE (r.read_at > 0 AND coalesce(r.marked_in, '') <> t.conversation_id)
               OR (r.read_at = 0 AND r.marked_in IS NOT NULL)`,
  },
  {
    name: 'conversations.messages',
    says: 'A conversation has the correct count of messages.',
    find: sql`SELECT conversations.id FROM conversations WHERE deleted_at IS NULL AND message_count <> ${MESSAGE_COUNT}`,
    repair: RECOUNT_MESSAGES,
  },
  {
    name: 'conversations.participants',
    says: 'A conversation has the correct count of participants.',
    find: sql`SELECT conversations.id FROM conversations
            WHERE deleted_at IS NULL AND participant_count <> ${PARTICIPANT_COUNT}`,
    repair: RECOUNT_PARTICIPANTS,
  },
  {
    name: 'conversations.active',
    says: 'The last activity of a conversation is not before its latest message.',
    find: sql`SELECT c.id FROM conversations c WHERE c.deleted_at IS NULL AND coalesce(c.active_at, 0) < ${LATEST(sql`c.id`)}`,
    repair: sql`UPDATE conversations SET active_at = ${LATEST(sql`conversations.id`)}
              WHERE coalesce(active_at, 0) < ${LATEST(sql`conversations.id`)}`,
  },
  {
    name: 'roots-counted',
    says: 'A conversation has the correct count of threads whose first message is not deleted.',
    find: sql`SELECT conversations.id FROM conversations
            WHERE deleted_at IS NULL AND counted_seq = last_seq AND root_count <> ${ROOT_COUNT}`,
    repair: sql`UPDATE conversations SET root_count = ${ROOT_COUNT} WHERE counted_seq = last_seq`,
  },
  {
    name: 'follows-listed',
    says: 'The list of the threads that a user follows has each of them at its latest activity, with its latest news.',
    find: sql`SELECT x.root_id AS id FROM thread_members x JOIN ${ENTRIES} AS entry
              ON entry.root_id = x.root_id AND entry.user_id = x.user_id WHERE entry.listed_at IS NOT NULL AND ${IS_ENTRY_WRONG}`,
    repair: RELIST,
  },
  // After the lists, from which it counts.
  {
    name: 'unread-counted',
    says: 'The numbers of messages that a participant has seen in a conversation, of unread replies in followed threads, and of the threads that have some, are correct.',
    find: sql`SELECT p.conversation_id AS id FROM participants p JOIN conversations c ON c.id = p.conversation_id
            WHERE c.deleted_at IS NULL AND (p.seen_count <> ${SEEN_COUNT}
               OR (${IS_COUNTED} AND (p.seen_roots <> ${SEEN_ROOTS} OR p.followed_unread <> ${FOLLOWED_UNREAD}
               OR p.followed_threads <> ${FOLLOWED_THREADS})))`,
    repair: RECOUNT_SEEN,
  },
  {
    name: 'follows-participate',
    says: 'Users follow threads, or wish not to, only in conversations in which they participate.',
    find: sql`SELECT x.root_id AS id FROM thread_members x JOIN threads t ON t.root_id = x.root_id
            WHERE (x.followed_at IS NOT NULL OR x.listed_at IS NOT NULL) AND ${IS_OUTSIDE}
              AND NOT EXISTS (SELECT 1 FROM tasks WHERE kind IN ('follows.clear', 'user.erase'))`,
    repair: sql`UPDATE thread_members AS x SET followed_at = NULL, listed_in = NULL, listed_at = NULL, news_at = NULL
              FROM threads t
             WHERE t.root_id = x.root_id AND (x.followed_at IS NOT NULL OR x.listed_at IS NOT NULL) AND ${IS_OUTSIDE}`,
  },
  {
    name: 'thread-notification-while-unread',
    says: 'An unread notification of a thread that is shown has unread replies since its user follows the thread.',
    find: sql`SELECT n.id ${OVER}`,
    repair: sql`UPDATE notifications SET read_at = at WHERE (id, user_id) IN (SELECT n.id, n.user_id ${OVER})`,
  },
  {
    name: 'unread-mentions-counted',
    says: 'The number of unread mentions of a participant is that of the unread notifications of these kinds.',
    find: sql`SELECT p.conversation_id AS id FROM participants p JOIN conversations c ON c.id = p.conversation_id
             LEFT JOIN ${UNREAD_MENTIONS} AS news ON news.conversation_id = p.conversation_id AND news.user_id = p.user_id
            WHERE c.deleted_at IS NULL AND p.unread_mentions <> coalesce(news.total, 0)`,
    repair: RECOUNT_MENTIONS,
  },
]
