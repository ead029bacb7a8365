import type { Place } from '../../core/pages.ts'
import type { Queries } from '../../storage/database.ts'
import { onRows } from '../../storage/on-rows.ts'
import { among, literal, type Micros, sql } from '../../storage/sql.ts'
import { IS_COUNTED_APART } from '../../storage/unread-mentions.ts'
import { UNREAD_FOLLOWED } from '../../storage/unread-set.ts'
import type { NotificationsQuery } from './schema.ts'
import type { NotificationRow } from './store-making.ts'

const EXCERPT_LENGTH = 140

/** What is stored of these kinds only: the others have it from their message. */
const OWN = sql`('direct', 'added')`

/** The user who caused a notification: the author of its message. An answer of the assistant has no actor. */
const ACTOR = sql`CASE WHEN n.kind IN ${OWN} AND n.scope_id IS NULL THEN n.actor_user_id
  WHEN n.kind <> 'approval' THEN nullif(m.posted_by, n.user_id) END`

/** What is unread of the conversation, or since the user follows the thread; NULL for a notification of one message. */
const COUNT = sql`CASE WHEN n.read_at IS NOT NULL THEN NULL
    WHEN n.kind = 'direct' THEN c.message_count - p.seen_count
    WHEN n.scope_id IS NOT NULL THEN ${UNREAD_FOLLOWED} END AS count`

/**
 * Whether a notification of kind `direct` of an earlier version, which has one for each thread, is left out: there is a later one
 * of the conversation.
 */
const IS_MERGED = sql`(n.kind = 'direct' AND n.scope_id IS NULL AND n.read_at IS NULL AND EXISTS (
    SELECT 1 FROM notifications o
     WHERE o.user_id = n.user_id AND o.conversation_id = n.conversation_id AND o.kind = 'direct' AND o.read_at IS NULL
       AND ${IS_COUNTED_APART} AND o.hidden = 0 AND (o.scope_id IS NOT NULL OR (o.at, o.id) > (n.at, n.id))))`

/**
 * Notifications `n` as their user reads them: of conversations in which the user participates. No user is notified of an own
 * message, but of the answer to an own question: then the excerpt is of the answer, else of the question.
 */
const SHOWN = sql`n.id, n.kind, n.at, c.id AS conversation_id, m.root_id, m.id AS message_id, ${COUNT}, n.read_at,
  CASE WHEN gone.user_id IS NULL THEN ${ACTOR} END AS actor_user_id, w.id AS webhook_id, w.host AS webhook_host,
  CASE WHEN m.deleted_at IS NULL AND coalesce(gone.messages, 'keep') = 'keep'
       THEN substr(CASE WHEN m.posted_by = n.user_id THEN m.content ELSE coalesce(m.prompt, m.content) END, 1,
           ${literal(EXCERPT_LENGTH)})
       END AS excerpt`
const SUBJECT = sql`LEFT JOIN messages m ON m.id = coalesce(n.message_id, n.id)
  LEFT JOIN conversations c ON c.id = coalesce(n.conversation_id, m.conversation_id) AND c.deleted_at IS NULL
  LEFT JOIN participants p ON p.conversation_id = c.id AND p.user_id = n.user_id
  LEFT JOIN webhooks w ON w.id = n.webhook_id AND w.user_id = n.user_id
  LEFT JOIN threads t ON t.root_id = n.scope_id
  LEFT JOIN thread_members r ON r.root_id = t.root_id AND r.user_id = n.user_id
  LEFT JOIN erased_authors gone ON gone.user_id = coalesce(n.actor_user_id, m.posted_by)`

/** Whether a user sees it: as a participant, or because the webhook that it is about is still there, and theirs. */
const IS_OF_USER = sql`(p.user_id IS NOT NULL OR w.id IS NOT NULL)`

/** The sizes of the parts of an inbox that are read at a time. */
const PARTS = [64, 256, 1024]

type Filter = Pick<NotificationsQuery, 'unread' | 'kind' | 'conversation'>

/** Up to `limit` notifications of a user after a place, newest first: part by part, until enough of them are visible. */
export async function listNotifications(
  db: Queries,
  userId: string,
  filter: Filter,
  after: Place,
  limit: number,
): Promise<NotificationRow[]> {
  const notifications: NotificationRow[] = []
  let place = after
  for (let n = PARTS.findIndex((size) => size >= limit); ; n = Math.min(n + 1, PARTS.length - 1)) {
    const part = await listPart(db, userId, filter, place, PARTS[n]!)
    notifications.push(...part.filter(({ is_visible }) => is_visible === 1))
    if (notifications.length >= limit || part.length < PARTS[n]!) return notifications.slice(0, limit)
    place = part.at(-1)!
  }
}

/**
 * The next notifications of an inbox, whether they are visible or not. By (user_id, at, id). PostgreSQL must know the size
 * when it plans, and have no other condition: it would rather sort the whole inbox.
 */
function listPart(
  db: Queries,
  userId: string,
  { unread, kind, conversation }: Filter,
  after: Place,
  size: number,
): Promise<(NotificationRow & { is_visible: number })[]> {
  const isElsewhere = conversation === undefined ? sql`` : sql`OR c.id IS NULL OR c.id <> ${conversation}`
  return db.all(
    sql`SELECT ${SHOWN}, CASE WHEN NOT ${IS_OF_USER} OR n.hidden > 0 ${isElsewhere} OR ${IS_MERGED} THEN 0 ELSE 1 END AS is_visible
       FROM (SELECT user_id, id, kind, at, read_at, hidden, conversation_id, message_id, actor_user_id, scope_id, webhook_id
               FROM notifications
              WHERE user_id = ${userId} AND (at, id) < (${after.at}, ${after.id})
                    ${unread ? sql`AND read_at IS NULL` : sql``} ${kind ? sql`AND kind = ${kind}` : sql``}
              ORDER BY at DESC, id DESC
              LIMIT ${literal(size)}) AS n
       ${SUBJECT}
      ORDER BY n.at DESC, n.id DESC`,
  )
}

/**
 * The number of unread notifications of these users: those that are counted for each conversation, and the others. By the
 * participations of the users, and the indexes of the others.
 */
export async function countUnreadNotifications(db: Queries, userIds: Iterable<string>): Promise<Map<string, number>> {
  const rows = await db.all<{ user_id: string; unread: number }>(
    sql`SELECT news.user_id, CAST(sum(news.unread) AS BIGINT) AS unread
       FROM (SELECT p.user_id, p.unread_mentions AS unread
               FROM participants p JOIN conversations c ON c.id = p.conversation_id AND c.deleted_at IS NULL
              WHERE p.user_id ${among(db, userIds)} AND p.unread_mentions > 0
             UNION ALL
             SELECT n.user_id, count(DISTINCT CASE WHEN n.kind = 'direct' THEN n.conversation_id ELSE n.id END)
               FROM notifications n
               JOIN participants p ON p.conversation_id = n.conversation_id AND p.user_id = n.user_id
               JOIN conversations c ON c.id = n.conversation_id AND c.deleted_at IS NULL
              WHERE n.user_id ${among(db, userIds)} AND n.read_at IS NULL AND n.kind IN ${OWN}
                AND n.hidden = 0 GROUP BY n.user_id
             UNION ALL
             SELECT n.user_id, count(*) FROM notifications n JOIN webhooks w ON w.id = n.webhook_id AND w.user_id = n.user_id
              WHERE n.user_id ${among(db, userIds)} AND n.read_at IS NULL AND n.kind = 'system'
              GROUP BY n.user_id) AS news
      GROUP BY news.user_id`,
  )
  return new Map(rows.map(({ user_id, unread }) => [user_id, unread]))
}

/** A notification of a user, by its id. */
interface Wanted {
  user_id: string
  id: string
}

const BY_ID = onRows<Wanted>(
  { user_id: 'text', id: 'text' },
  (given) =>
    sql`SELECT n.user_id, p.unread_mentions, ${SHOWN} FROM ${given} CROSS JOIN notifications n ${SUBJECT}
      WHERE n.user_id = given.user_id AND n.id = given.id AND n.hidden = 0 AND ${IS_OF_USER}`,
)

/** A notification, and the unread mentions of its conversation, if it has one. */
type ListedRow = NotificationRow & { user_id: string; unread_mentions: number | null }

/** These notifications as their users read them, in no order. By primary key. */
export function listByIds(db: Queries, keys: Wanted[]): Promise<ListedRow[]> {
  return BY_ID.all(db, keys)
}

/** The place of a notification in the order of the list. By primary key. */
export function findPlace(db: Queries, userId: string, id: string): Promise<{ at: Micros; id: string } | undefined> {
  return db.get(sql`SELECT at, id FROM notifications WHERE user_id = ${userId} AND id = ${id}`)
}
