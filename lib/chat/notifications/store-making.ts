import { toInstant } from '../../core/time.ts'
import type { Primitive, Queries } from '../../storage/database.ts'
import { type Columns, onRows } from '../../storage/on-rows.ts'
import { listOf, type Micros } from '../../storage/sql.ts'
import type { SettingsColumns } from '../conversations/rules-settings.ts'
import { COUNTED_KINDS, type Level } from '../conversations/schema-settings.ts'
import { isCounted } from './rules.ts'
import type { Notification, NotificationKind } from './schema.ts'

/** A notification that was made, and what its sender needs to know of the recipient. */
export interface MadeNotification {
  user_id: string
  /** Whether the recipient has muted the conversation: then nothing but the inbox may tell of it. */
  muted_until: Micros | null
  /** The settings of the recipient, if this has ended that the conversation is archived for them. */
  settings?: SettingsColumns
  /** Without the excerpt, which is composed when it is read. */
  notification: Notification
}

/** What the notifications of a message have in common. */
export interface NewNotification {
  id: string
  kind: NotificationKind
  at: Micros
  conversation_id: string
  root_id: string | null
  message_id: string | null
  actor_user_id: string | null
  /** The level of participants who have not chosen one. */
  level: Level
}

/** A notification of one user. */
export interface NewPersonal extends NewNotification {
  user_id: string
}

/** The notification of messages of one author in a thread of a direct conversation, for the other participant. */
export interface NewDirect extends NewNotification {
  count: number
  since: Micros
}

/** A row as the statements below return it. */
interface MadeRow extends Pick<SettingsColumns, 'level' | 'muted_until' | 'archived' | 'receipts'> {
  user_id: string
  id: string
  kind: NotificationKind
  at: Micros
  conversation_id: string
  root_id: string | null
  message_id: string | null
  actor_user_id: string | null
  count: number | null
}

const NEW = {
  id: 'text',
  kind: 'text',
  at: 'bigint',
  conversation_id: 'text',
  root_id: 'text',
  message_id: 'text',
  actor_user_id: 'text',
  level: 'text',
} as const satisfies Columns<NewNotification>

const COLUMNS = 'user_id, id, kind, at, conversation_id, root_id, message_id, actor_user_id'
const GIVEN =
  'given.id, given.kind, given.at, given.conversation_id, given.root_id, given.message_id, given.actor_user_id'
const RETURNED = `${COLUMNS}, count`

/** Participants who want to be notified. */
const WANTS = "coalesce(p.level, given.level) <> 'none'"

/** The settings of a participant that a sender needs. */
const SETTINGS = 'level, muted_until, archived, receipts'

/**
 * A statement of PostgreSQL that makes notifications, counts them for each recipient, and ends the archiving of the
 * conversation. It returns the settings from before.
 */
function inOneStatement(insert: string): string {
  return `WITH made AS (${insert} RETURNING ${RETURNED}),
    counted AS (
      UPDATE participants SET unread_mentions = unread_mentions + added, archived = 0
        FROM (SELECT conversation_id, user_id, sum(CASE WHEN kind IN ${listOf(COUNTED_KINDS)} THEN 1 ELSE 0 END) AS added
                FROM made GROUP BY conversation_id, user_id) AS news
       WHERE participants.conversation_id = news.conversation_id AND participants.user_id = news.user_id
         AND (added > 0 OR archived = 1))
    SELECT made.*, p.level, p.muted_until, p.archived, p.receipts FROM made
      JOIN participants p ON p.conversation_id = made.conversation_id AND p.user_id = made.user_id`
}

/** The same for a row that SQLite has made. */
async function settle(tx: Queries, row: MadeRow): Promise<MadeRow> {
  const { conversation_id, user_id } = row
  const where = 'WHERE conversation_id = ? AND user_id = ?'
  const settings = (await tx.get<Pick<MadeRow, 'level' | 'muted_until' | 'archived' | 'receipts'>>(
    isCounted(row.kind)
      ? `UPDATE participants SET unread_mentions = unread_mentions + 1 ${where} RETURNING ${SETTINGS}`
      : `SELECT ${SETTINGS} FROM participants ${where}`,
    conversation_id,
    user_id,
  ))!
  if (settings.archived === 1) await tx.run(`UPDATE participants SET archived = 0 ${where}`, conversation_id, user_id)
  return { ...row, ...settings }
}

/**
 * Creates a function that makes notifications, for participants who want them.
 *
 * @param insert the statement for the rows `given`, without RETURNING
 */
function making<Row extends NewNotification & { [Name in keyof Row]: Primitive }>(
  columns: Columns<Row>,
  insert: (given: string) => string,
) {
  const statement = onRows<Row>(columns, (given, dialect) =>
    dialect === 'sqlite' ? `${insert(given)} RETURNING ${RETURNED}` : inOneStatement(insert(given)),
  )
  return async (tx: Queries, rows: Row[]): Promise<MadeNotification[]> => {
    if (rows.length === 0) return []
    const made = await statement.all<MadeRow>(tx, rows)
    const settled = tx.dialect === 'sqlite' ? await Promise.all(made.map((row) => settle(tx, row))) : made
    const levels = new Map(rows.map(({ conversation_id, level }) => [conversation_id, level]))
    return settled.map((row) => toMade(row, levels.get(row.conversation_id)!))
  }
}

/** For single participants. */
export const makePersonal = making<NewPersonal>(
  { ...NEW, user_id: 'text' },
  (given) =>
    `INSERT INTO notifications (${COLUMNS})
     SELECT p.user_id, ${GIVEN} FROM ${given}
       JOIN participants p ON p.conversation_id = given.conversation_id AND p.user_id = given.user_id
      WHERE given.kind = 'added' OR ${WANTS}
     ON CONFLICT DO NOTHING`,
)

/** For all other participants, but for those that the message notifies already. */
export const makeForAll = making<NewNotification>(
  NEW,
  (given) =>
    `INSERT INTO notifications (${COLUMNS})
     SELECT p.user_id, ${GIVEN} FROM ${given}
       JOIN participants p ON p.conversation_id = given.conversation_id AND p.user_id <> given.actor_user_id
      WHERE ${WANTS}
     ON CONFLICT DO NOTHING`,
)

/** For the other participant of a direct conversation: one for a thread while it is not read, moved to the front. */
export const makeDirect = making<NewDirect>(
  { ...NEW, count: 'bigint', since: 'bigint' },
  (given) =>
    `INSERT INTO notifications (${COLUMNS}, count, since)
     SELECT p.user_id, ${GIVEN}, given.count, given.since FROM ${given}
       JOIN participants p ON p.conversation_id = given.conversation_id AND p.user_id <> given.actor_user_id
      WHERE ${WANTS}
     ON CONFLICT (user_id, root_id) WHERE kind = 'direct' AND read_at IS NULL DO UPDATE
        SET at = excluded.at, message_id = excluded.message_id, actor_user_id = excluded.actor_user_id,
            count = notifications.count + excluded.count, hidden = 0`,
)

/** @param defaultLevel of participants who have not chosen one, in a conversation of this kind */
function toMade(row: MadeRow, defaultLevel: Level): MadeNotification {
  const { user_id, muted_until, archived, receipts } = row
  const settings = { is_direct: 0, level: row.level ?? defaultLevel, muted_until, archived: 0, receipts }
  return { user_id, muted_until, ...(archived === 1 && { settings }), notification: toNotification(row) }
}

/** A row of a notification as its user reads it. */
export interface NotificationRow extends Pick<MadeRow, 'id' | 'kind' | 'at' | 'conversation_id' | 'count'> {
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
