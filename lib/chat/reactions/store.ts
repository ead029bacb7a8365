import { emojiKey } from '../../core/emoji.ts'
import type { Place } from '../../core/pages.ts'
import type { Queries } from '../../storage/database.ts'
import { isOneOf, jsonList, type Micros } from '../../storage/sql.ts'

/** A reaction of one user. */
export interface ReactionRow {
  message_id: string
  user_id: string
  /** As it was first written for the message. */
  emoji: string
  at: Micros
}

/** Whether a user has reacted to a message with an emoji, in any spelling. By primary key. */
export async function hasReacted(db: Queries, messageId: string, emoji: string, userId: string): Promise<boolean> {
  const row = await db.get(
    'SELECT 1 AS one FROM reactions WHERE message_id = ? AND emoji_key = ? AND user_id = ?',
    messageId,
    emojiKey(emoji),
    userId,
  )
  return row !== undefined
}

export async function insertReaction(tx: Queries, { message_id, user_id, emoji, at }: ReactionRow): Promise<void> {
  await tx.run(
    'INSERT INTO reactions (message_id, emoji_key, user_id, emoji, at) VALUES (?, ?, ?, ?, ?)',
    message_id,
    emojiKey(emoji),
    user_id,
    emoji,
    at,
  )
}

/** Deletes the reactions to a message with an emoji, in any spelling: those of one user, or all. @returns the number */
export function deleteReactions(tx: Queries, messageId: string, emoji: string, userId?: string): Promise<number> {
  return tx.run(
    `DELETE FROM reactions WHERE message_id = ? AND emoji_key = ?${userId === undefined ? '' : ' AND user_id = ?'}`,
    messageId,
    emojiKey(emoji),
    ...(userId === undefined ? [] : [userId]),
  )
}

/** Up to `limit` messages to which a user has reacted, with their conversations. By (user_id, message_id). */
export function listReactedBy(
  db: Queries,
  userId: string,
  limit: number,
): Promise<{ message_id: string; conversation_id: string }[]> {
  return db.all(
    `SELECT m.id AS message_id, m.conversation_id
       FROM (SELECT DISTINCT message_id FROM reactions WHERE user_id = ? ORDER BY message_id LIMIT ?) AS r
       JOIN messages m ON m.id = r.message_id
      ORDER BY m.id`,
    userId,
    limit,
  )
}

/** Deletes the reactions of a user to some messages. */
export async function deleteReactionsOf(tx: Queries, userId: string, messageIds: string[]): Promise<void> {
  await tx.run(
    `DELETE FROM reactions WHERE user_id = ? AND message_id ${isOneOf(tx.dialect)}`,
    userId,
    jsonList(messageIds),
  )
}

/** Up to `limit` reactions to a message after one, oldest first. By (message_id, at). */
export function listReactions(
  db: Queries,
  messageId: string,
  emoji: string | undefined,
  after: Place,
  limit: number,
): Promise<ReactionRow[]> {
  return db.all<ReactionRow>(
    `SELECT message_id, user_id, emoji, at FROM reactions
      WHERE message_id = ? AND (at, user_id) > (?, ?)${emoji === undefined ? '' : ' AND emoji_key = ?'}
      ORDER BY at, user_id
      LIMIT ?`,
    messageId,
    after.at,
    after.id,
    ...(emoji === undefined ? [] : [emojiKey(emoji)]),
    limit,
  )
}
