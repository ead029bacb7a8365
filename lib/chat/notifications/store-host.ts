import type { Recipient } from '../../ports.ts'
import type { Queries } from '../../storage/database.ts'
import { among, isErasedAuthor, type Micros, sql, subjectOf } from '../../storage/sql.ts'
import type { Level } from '../conversations/schema-settings.ts'

/** What the host gets of a user. */
interface RecipientRow {
  user_id: string
  username: string
  display_name: string | null
  email: string
  email_verified_at: Micros | null
  subject: string | null
}

const RECIPIENT = sql`u.id AS user_id, u.username, u.display_name, u.email, u.email_verified_at,
  ${subjectOf(sql`u.id`)} AS subject`

/** These users, without disabled ones. By primary key. */
export async function listRecipients(db: Queries, userIds: Iterable<string>): Promise<Map<string, Recipient>> {
  const rows = await db.all<RecipientRow>(
    sql`SELECT ${RECIPIENT} FROM users u WHERE u.id ${among(db, userIds)} AND u.disabled_at IS NULL`,
  )
  return new Map(rows.map((row) => [row.user_id, toRecipient(row)]))
}

/** A message about which the host notifies the participants with the level `all`. */
export interface ToldMessage {
  id: string
  conversation_id: string
  root_id: string
  created_at: Micros
  author: string | null
  /** 1 if its text came in chunks, and it is complete by its end. */
  is_answer: number
  posted_by: string | null
  excerpt: string
}

/**
 * The messages among these that are complete and can be read: without messages of direct conversations and messages
 * that mention all, which are notifications.
 */
export function listTold(db: Queries, messageIds: Iterable<string>): Promise<ToldMessage[]> {
  return db.all<ToldMessage>(
    sql`SELECT m.id, m.conversation_id, m.root_id, m.created_at, m.posted_by, substr(m.content, 1, 140) AS excerpt,
            CASE WHEN m.role <> 'assistant' THEN m.posted_by END AS author,
            CASE WHEN m.role = 'assistant' OR m.finish_reason IS NOT NULL THEN 1 ELSE 0 END AS is_answer
       FROM messages m JOIN conversations c ON c.id = m.conversation_id
      WHERE m.id ${among(db, messageIds)} AND m.deleted_at IS NULL AND m.status NOT IN ('streaming', 'waiting')
        AND (m.role = 'assistant' OR coalesce(m.mention_all, 0) = 0)
        AND c.deleted_at IS NULL AND c.is_direct = 0 AND NOT ${isErasedAuthor(sql`m.posted_by`)}`,
  )
}

/**
 * Up to `limit` participants with ids after `after` who are notified of a message because their level is `all`, in the
 * order of their ids: without its author, users who have muted the conversation, and users with a notification of it.
 *
 * @param defaultLevel the level of participants without one of their own
 */
export async function listListeners(
  db: Queries,
  { id, conversation_id, posted_by }: ToldMessage,
  defaultLevel: Level,
  now: Micros,
  after: string,
  limit: number,
): Promise<Recipient[]> {
  const rows = await db.all<RecipientRow>(
    sql`SELECT ${RECIPIENT} FROM participants p JOIN users u ON u.id = p.user_id
      WHERE p.conversation_id = ${conversation_id} AND p.user_id > ${after}
          AND coalesce(p.level, ${defaultLevel}) = 'all' AND p.user_id <> ${posted_by ?? ''}
        AND (p.muted_until IS NULL OR p.muted_until <= ${now}) AND u.disabled_at IS NULL
        AND NOT EXISTS (SELECT 1 FROM notifications n WHERE n.user_id = p.user_id AND n.id = ${id})
        AND NOT EXISTS (SELECT 1 FROM notifications n
             WHERE n.scope_id IS NOT NULL AND n.message_id = ${id} AND n.user_id = p.user_id)
      ORDER BY p.user_id
      LIMIT ${limit}`,
  )
  return rows.map(toRecipient)
}

function toRecipient({ user_id, username, display_name, email, email_verified_at, subject }: RecipientRow): Recipient {
  return {
    user_id,
    username,
    ...(display_name && { display_name }),
    ...(email_verified_at !== null && { email }),
    ...(subject !== null && { subject }),
  }
}
