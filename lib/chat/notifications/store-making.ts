import { toInstant } from '../../core/time.ts'
import type { Queries } from '../../storage/database.ts'
import { type Columns, onRows } from '../../storage/on-rows.ts'
import { jsonList, type Micros, type Sql, sql } from '../../storage/sql.ts'
import type { Level } from '../conversations/schema-settings.ts'
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

/** The notification of messages of one author in a thread of a direct conversation, for the other participant. */
export interface NewDirect extends NewRow {
  /** The level of participants without one of their own. */
  level: Level
  count: number
  /** The arrival of the first of the messages. */
  since: Micros
}

const DIRECT = {
  id: 'text',
  kind: 'text',
  at: 'bigint',
  conversation_id: 'text',
  root_id: 'text',
  message_id: 'text',
  actor_user_id: 'text',
  level: 'text',
  count: 'bigint',
  since: 'bigint',
} as const satisfies Columns<NewDirect>

const DIRECT_COLUMNS = sql`user_id, id, kind, at, conversation_id, root_id, message_id, actor_user_id, count`
const SETTINGS = sql`level, muted_until, archived`

type MadeRow = NotificationRow & ParticipantSettings

/** One for a thread while it is not read, moved to the front by each message. */
const insertInto = (given: Sql) => sql`INSERT INTO notifications (${DIRECT_COLUMNS}, since)
  SELECT p.user_id, given.id, given.kind, given.at, given.conversation_id, given.root_id, given.message_id,
         given.actor_user_id, given.count, given.since
    FROM ${given}
    JOIN participants p ON p.conversation_id = given.conversation_id AND p.user_id <> given.actor_user_id
   WHERE coalesce(p.level, given.level) <> 'none'
  ON CONFLICT (user_id, root_id) WHERE kind = 'direct' AND read_at IS NULL DO UPDATE
     SET at = excluded.at, message_id = excluded.message_id, actor_user_id = excluded.actor_user_id,
         count = notifications.count + excluded.count, hidden = 0
  RETURNING ${DIRECT_COLUMNS}`

/** PostgreSQL also ends the archiving of the conversation, and returns the settings from before. */
const MAKE_DIRECT = onRows<NewDirect>(DIRECT, (given, dialect) =>
  dialect === 'sqlite'
    ? insertInto(given)
    : sql`WITH made AS (${insertInto(given)}),
         shown AS (
           UPDATE participants SET archived = 0 FROM made
            WHERE participants.conversation_id = made.conversation_id AND participants.user_id = made.user_id
              AND archived = 1)
       SELECT made.*, p.level, p.muted_until, p.archived FROM made
         JOIN participants p ON p.conversation_id = made.conversation_id AND p.user_id = made.user_id`,
)

/** Ends the archiving for a row that SQLite has made, and adds the settings from before. */
async function show(tx: Queries, row: NotificationRow & { user_id: string }): Promise<MadeRow> {
  const place = sql`conversation_id = ${row.conversation_id} AND user_id = ${row.user_id}`
  const settings = await tx.get<Omit<ParticipantSettings, 'user_id'>>(
    sql`SELECT ${SETTINGS} FROM participants WHERE ${place}`,
  )
  if (settings!.archived === 1) await tx.run(sql`UPDATE participants SET archived = 0 WHERE ${place}`)
  return { ...row, ...settings! }
}

/** Makes notifications of direct conversations, for participants who want them, and ends the archiving of these. */
export async function makeDirect(tx: Queries, rows: readonly NewDirect[]): Promise<MadeNotification[]> {
  const notifications = await MAKE_DIRECT.all<MadeRow>(tx, rows)
  const settled = tx.dialect === 'sqlite' ? await Promise.all(notifications.map((row) => show(tx, row))) : notifications
  return settled.map(({ user_id, level, muted_until, archived, ...row }) => {
    const users = [{ user_id, level, muted_until, archived }]
    return { notification: toNotification(row), users, shown: shownTo(users) }
  })
}

/** A row of a notification as its user reads it. */
export interface NotificationRow {
  id: string
  kind: NotificationKind
  at: Micros
  conversation_id: string
  count: number | null
  root_id: string | null
  message_id: string | null
  actor_user_id: string | null
  excerpt?: string | null
  read_at?: Micros | null
}

export function toNotification(row: NotificationRow): Notification {
  const { id, kind, at, conversation_id, root_id, message_id, actor_user_id, excerpt, count, read_at } = row
  return {
    id,
    kind,
    at: toInstant(at),
    conversation_id,
    ...(root_id && { root_id }),
    ...(message_id && { message_id }),
    ...(actor_user_id && { actor_user_id }),
    ...(excerpt && { excerpt }),
    ...(count && { count }),
    ...(read_at && { read_at: toInstant(read_at) }),
  }
}
