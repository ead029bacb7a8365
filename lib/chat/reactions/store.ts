import { emojiKey } from '../../core/emoji.ts'
import type { Place } from '../../core/pages.ts'
import type { Queries } from '../../storage/database.ts'
import { onRows } from '../../storage/on-rows.ts'
import { isOneOf, jsonList, type Micros } from '../../storage/sql.ts'

/** A reaction of one user. */
export interface ReactionRow {
  message_id: string
  user_id: string
  /** As it was first written for the message. */
  emoji: string
  at: Micros
}

interface ReactionKey {
  n: number
  message_id: string
  emoji_key: string
  user_id: string
}

const REACTED = onRows<ReactionKey>(
  { n: 'bigint', message_id: 'text', emoji_key: 'text', user_id: 'text' },
  (given) =>
    `SELECT given.n FROM ${given} JOIN reactions r ON r.message_id = given.message_id AND r.emoji_key = given.emoji_key
                                              AND r.user_id = given.user_id`,
)

/** The reactions among these that exist, in any spelling. By primary key. */
export function listReacted(db: Queries, keys: ReactionKey[]): Promise<{ n: number }[]> {
  return REACTED.all(db, keys)
}

const INSERT = onRows<ReactionRow & { emoji_key: string }>(
  { message_id: 'text', emoji_key: 'text', user_id: 'text', emoji: 'text', at: 'bigint' },
  (given) =>
    `INSERT INTO reactions (message_id, emoji_key, user_id, emoji, at)
     SELECT message_id, emoji_key, user_id, emoji, at FROM ${given}`,
)

export function insertReactions(tx: Queries, rows: readonly ReactionRow[]): Promise<void> {
  return INSERT.run(
    tx,
    rows.map((row) => ({ ...row, emoji_key: emojiKey(row.emoji) })),
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
