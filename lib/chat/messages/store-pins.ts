import type { Queries } from '../../storage/database.ts'
import { among, isErasedAuthor, type Micros, sql } from '../../storage/sql.ts'

/** What a change of a pin needs of its message. */
export interface PinState {
  root_id: string
  conversation_id: string
  pinned_at: Micros | null
  is_deleted: number
}

/** By primary key. */
export function findPin(db: Queries, messageId: string): Promise<PinState | undefined> {
  return db.get<PinState>(
    sql`SELECT root_id, conversation_id, pinned_at,
            CASE WHEN deleted_at IS NOT NULL OR ${isErasedAuthor(sql`messages.posted_by`)} THEN 1 ELSE 0
                END AS is_deleted
       FROM messages WHERE id = ${messageId}`,
  )
}

/** Pins a message, or removes its pin. */
export async function setPin(tx: Queries, messageId: string, pin?: { at: Micros; by: string }): Promise<void> {
  await tx.run(
    sql`UPDATE messages SET pinned_at = ${pin?.at ?? null}, pinned_by = ${pin?.by ?? null} WHERE id = ${messageId}`,
  )
}

/** The number of pinned messages of a conversation that are not deleted. By (conversation_id, pinned_at). */
export async function countPins(db: Queries, conversationId: string): Promise<number> {
  const row = await db.get<{ count: number }>(
    sql`SELECT count(*) AS count FROM messages
      WHERE conversation_id = ${conversationId} AND pinned_at IS NOT NULL AND deleted_at IS NULL`,
  )
  return Number(row!.count)
}

/** Up to `limit` messages that a user has pinned, with their conversations. By (pinned_by). */
export function listPinnedBy(
  db: Queries,
  userId: string,
  limit: number,
): Promise<{ message_id: string; conversation_id: string }[]> {
  return db.all(sql`SELECT id AS message_id, conversation_id FROM messages WHERE pinned_by = ${userId} LIMIT ${limit}`)
}

/** Removes a user from the pins of these messages. @returns those that are not deleted */
export async function forgetPinner(
  tx: Queries,
  userId: string,
  messageIds: string[],
): Promise<{ message_id: string; root_id: string; pinned_at: Micros }[]> {
  const rows = await tx.all<{ message_id: string; root_id: string; pinned_at: Micros; deleted_at: Micros | null }>(
    sql`UPDATE messages SET pinned_by = NULL WHERE pinned_by = ${userId} AND id ${among(tx, messageIds)}
     RETURNING id AS message_id, root_id, pinned_at, deleted_at`,
  )
  return rows.filter(({ deleted_at }) => deleted_at === null)
}
