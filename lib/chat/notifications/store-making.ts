import { toInstant } from '../../core/time.ts'
import type { Queries } from '../../storage/database.ts'
import { jsonList, type Micros, sql } from '../../storage/sql.ts'
import type { ParticipantSettings } from '../memberships/rules-settings.ts'
import { countMentions, groupCounts, listCounts } from './rules.ts'
import type { Notification, NotificationKind } from './schema.ts'

/** A notification that was made for some users, and what its sender needs to know of them. */
export interface MadeNotification {
  /** Without the excerpt, which is composed when it is read. */
  notification: Notification
  users: readonly ParticipantSettings[]
  /** The users who had archived the conversation, and see it again. */
  shown: string[]
}

/** {@link MadeNotification} of a message, and not of the service. */
export type MadeOfMessage = MadeNotification & { notification: { conversation_id: string } }

/** What every new notification has. */
export interface NewRow {
  id: string
  kind: NotificationKind
  at: Micros
  conversation_id: string
  root_id: string | null
  message_id: string | null
  actor_user_id: string | null
}

/** A new notification, for users who want it and have none of its message. */
export interface NewNotification extends NewRow {
  users: readonly ParticipantSettings[]
}

/** With kind `added`, no message has the last two. */
const COLUMNS = sql`user_id, id, kind, at, conversation_id, actor_user_id`

// An error undoes the whole transaction: SQLite need not keep every page as it was before the statement.
function insert(tx: Queries, row: NewNotification): Promise<number> {
  const { id, kind, at, conversation_id, actor_user_id } = toRow(row)
  return tx.run(sql`INSERT OR FAIL INTO notifications (${COLUMNS})
    SELECT value, ${id}, ${kind}, ${at}, ${conversation_id}, ${actor_user_id} FROM json_each(${idsOf(row.users)})`)
}

/**
 * Makes notifications for participants, counts them, and ends the archiving of the conversation, in a transaction that
 * has locked the conversations.
 */
export async function makeNotifications(tx: Queries, rows: readonly NewNotification[]): Promise<MadeNotification[]> {
  const counts = countMentions(rows)
  if (tx.dialect === 'postgresql') {
    const parameters = rows.map((row) => ({ ...toRow(row), users: row.users.map(({ user_id }) => user_id) }))
    // Makes notifications in one statement of PostgreSQL.
    await tx.run(sql`WITH given AS (
    SELECT * FROM json_to_recordset(${JSON.stringify(parameters)})
                    AS list(id text, kind text, at bigint, conversation_id text, actor_user_id text, users json)),
  made AS (
    INSERT INTO notifications (${COLUMNS})
    SELECT one.value, given.id, given.kind, given.at, given.conversation_id, given.actor_user_id
      FROM given CROSS JOIN LATERAL json_array_elements_text(given.users) AS one(value))
  UPDATE participants SET unread_mentions = unread_mentions + news.count, archived = 0
    FROM json_to_recordset(${JSON.stringify(listCounts(counts))}) AS news(conversation_id text, user_id text,
        count bigint)
   WHERE participants.conversation_id = news.conversation_id AND participants.user_id = news.user_id`)
  } else {
    await Promise.all([
      ...rows.map((row) => insert(tx, row)),
      ...groupCounts(counts).map(({ count, conversation_id, ids }) =>
        tx.run(sql`UPDATE participants SET unread_mentions = unread_mentions + ${count}
   WHERE conversation_id = ${conversation_id} AND user_id IN (SELECT value FROM json_each(${jsonList(ids)}))`),
      ),
      ...rows.flatMap(({ conversation_id, users }) => {
        const archived = users.filter((user) => user.archived === 1)
        return archived.length > 0
          ? tx.run(sql`UPDATE participants SET archived = 0
   WHERE conversation_id = ${conversation_id} AND user_id IN (SELECT value FROM json_each(${idsOf(archived)}))`)
          : []
      }),
    ])
  }
  return rows.map(toMade)
}

function toRow({ id, kind, at, conversation_id, actor_user_id }: NewNotification) {
  const isOfMessage = kind !== 'added'
  return {
    id,
    kind,
    at,
    conversation_id: isOfMessage ? null : conversation_id,
    actor_user_id: isOfMessage ? null : actor_user_id,
  }
}

const idsOf = (users: readonly { user_id: string }[]) => jsonList(users.map(({ user_id }) => user_id))

function toMade({ users, ...row }: NewNotification): MadeNotification {
  return { notification: toNotification({ ...row, count: null }), users, shown: shownTo(users) }
}

const shownTo = (users: readonly ParticipantSettings[]) =>
  users.flatMap(({ user_id, archived }) => (archived === 1 ? user_id : []))

/** A row of a notification as its user reads it. */
export interface NotificationRow {
  id: string
  kind: NotificationKind
  at: Micros
  conversation_id: string | null
  count: number | null
  root_id: string | null
  message_id: string | null
  actor_user_id: string | null
  excerpt?: string | null
  webhook_id?: string | null
  webhook_host?: string | null
  read_at?: Micros | null
}

export function toNotification(row: NotificationRow): Notification {
  const { id, kind, at, conversation_id, root_id, message_id, actor_user_id, excerpt, count, read_at } = row
  const { webhook_id, webhook_host } = row
  return {
    id,
    kind,
    at: toInstant(at),
    ...(conversation_id && { conversation_id }),
    ...(root_id && { root_id }),
    ...(message_id && { message_id }),
    ...(actor_user_id && { actor_user_id }),
    ...(excerpt && { excerpt }),
    ...(count && { count }),
    ...(webhook_id && webhook_host && { webhook: { id: webhook_id, host: webhook_host } }),
    ...(read_at && { read_at: toInstant(read_at) }),
  }
}
