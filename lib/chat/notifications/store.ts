import type { Place } from '../../core/pages.ts'
import type { Queries } from '../../storage/database.ts'
import { onRows } from '../../storage/on-rows.ts'
import { isOneOf, jsonList, type Micros } from '../../storage/sql.ts'
import type { NotificationKind, NotificationsQuery } from './schema.ts'
import type { NotificationRow } from './store-making.ts'

const EXCERPT_LENGTH = 140

/**
 * Notifications `n` as their user reads them: of conversations in which the user participates. No user is notified of an own
 * message, but of the answer to an own question: then the excerpt is of the answer, else of the question.
 */
const SHOWN = `n.id, n.kind, n.at, n.conversation_id, n.root_id, n.message_id, n.count, n.read_at,
  CASE WHEN gone.user_id IS NULL THEN n.actor_user_id END AS actor_user_id,
  CASE WHEN m.deleted_at IS NULL AND coalesce(gone.messages, 'keep') = 'keep'
       THEN substr(CASE WHEN m.posted_by = n.user_id THEN m.content ELSE coalesce(m.prompt, m.content) END, 1, ${EXCERPT_LENGTH})
       END AS excerpt`
const VISIBLE = `JOIN participants p ON p.conversation_id = n.conversation_id AND p.user_id = n.user_id
  JOIN conversations c ON c.id = n.conversation_id AND c.deleted_at IS NULL`
const SUBJECT = `LEFT JOIN messages m ON m.id = n.message_id
  LEFT JOIN erased_authors gone ON gone.user_id = coalesce(n.actor_user_id, m.posted_by)`

/** Up to `limit` notifications of a user after a place, newest first. By (user_id, at, id). */
export function listNotifications(
  db: Queries,
  userId: string,
  { unread, kind, conversation }: Pick<NotificationsQuery, 'unread' | 'kind' | 'conversation'>,
  after: Place,
  limit: number,
): Promise<NotificationRow[]> {
  const conditions: [sql: string, value?: string][] = [
    ...(unread ? [['n.read_at IS NULL'] as [string]] : []),
    ...(kind ? [['n.kind = ?', kind] as [string, NotificationKind]] : []),
    ...(conversation ? [['n.conversation_id = ?', conversation] as [string, string]] : []),
  ]
  return db.all<NotificationRow>(
    `SELECT ${SHOWN} FROM notifications n ${VISIBLE} ${SUBJECT}
      WHERE n.user_id = ? AND n.hidden = 0 AND (n.at, n.id) < (?, ?)
            ${conditions.map(([sql]) => `AND ${sql}`).join(' ')}
      ORDER BY n.at DESC, n.id DESC
      LIMIT ?`,
    userId,
    after.at,
    after.id,
    ...conditions.flatMap(([, value]) => value ?? []),
    limit,
  )
}

/** The number of unread notifications of these users. By the index of unread ones. */
export async function countUnreadOf(db: Queries, userIds: Iterable<string>): Promise<Map<string, number>> {
  const rows = await db.all<{ user_id: string; unread: number }>(
    `SELECT news.user_id, CAST(sum(news.unread) AS BIGINT) AS unread
       FROM (SELECT user_id, conversation_id, count(*) AS unread FROM notifications
              WHERE user_id ${isOneOf(db.dialect)} AND read_at IS NULL AND hidden = 0
              GROUP BY user_id, conversation_id) AS news
       JOIN participants p ON p.conversation_id = news.conversation_id AND p.user_id = news.user_id
       JOIN conversations c ON c.id = news.conversation_id AND c.deleted_at IS NULL
      GROUP BY news.user_id`,
    jsonList(userIds),
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
    `SELECT n.user_id, ${SHOWN} FROM ${given} CROSS JOIN notifications n ${VISIBLE} ${SUBJECT}
      WHERE n.user_id = given.user_id AND n.id = given.id AND n.hidden = 0`,
)

/** These notifications as their users read them, in no order. By primary key. */
export function listByIds(db: Queries, wanted: Wanted[]): Promise<(NotificationRow & { user_id: string })[]> {
  return BY_ID.all(db, wanted)
}

/** The place of a notification in the order of the list. By primary key. */
export function findPlace(db: Queries, userId: string, id: string): Promise<{ at: Micros; id: string } | undefined> {
  return db.get('SELECT at, id FROM notifications WHERE user_id = ? AND id = ?', userId, id)
}
