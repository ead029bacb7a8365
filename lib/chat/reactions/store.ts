import { emojiKey } from '../../core/emoji.ts'
import type { Place } from '../../core/pages.ts'
import type { Queries } from '../../storage/database.ts'
import { onRows } from '../../storage/on-rows.ts'
import { among, type Micros, sql } from '../../storage/sql.ts'

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
    sql`SELECT given.n FROM ${given} JOIN reactions r ON r.message_id = given.message_id
          AND r.emoji_key = given.emoji_key
                                              AND r.user_id = given.user_id`,
)

/** The reactions among these that exist, in any spelling. By primary key. */
export function listReacted(db: Queries, keys: ReactionKey[]): Promise<{ n: number }[]> {
  return REACTED.all(db, keys)
}

const INSERT = onRows<ReactionRow & { emoji_key: string }>(
  { message_id: 'text', emoji_key: 'text', user_id: 'text', emoji: 'text', at: 'bigint' },
  (given) =>
    sql`INSERT INTO reactions (message_id, emoji_key, user_id, emoji, at)
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
    sql`DELETE FROM reactions WHERE message_id = ${messageId} AND emoji_key = ${emojiKey(emoji)}
      ${userId === undefined ? sql`` : sql`AND user_id = ${userId}`}`,
  )
}

/** Up to `limit` messages to which a user has reacted, with their conversations. By (user_id, message_id). */
export function listReactedBy(
  db: Queries,
  userId: string,
  limit: number,
): Promise<{ message_id: string; conversation_id: string }[]> {
  return db.all(
    sql`SELECT m.id AS message_id, m.conversation_id
       FROM (SELECT DISTINCT message_id FROM reactions WHERE user_id = ${userId} ORDER BY message_id
       LIMIT ${limit}) AS r
       JOIN messages m ON m.id = r.message_id
      ORDER BY m.id`,
  )
}

/** Deletes the reactions of a user to some messages. */
export async function deleteReactionsOf(tx: Queries, userId: string, messageIds: string[]): Promise<void> {
  await tx.run(sql`DELETE FROM reactions WHERE user_id = ${userId} AND message_id ${among(tx, messageIds)}`)
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
    sql`SELECT message_id, user_id, emoji, at FROM reactions
      WHERE message_id = ${messageId} AND (at, user_id) > (${after.at}, ${after.id})
            ${emoji === undefined ? sql`` : sql`AND emoji_key = ${emojiKey(emoji)}`}
      ORDER BY at, user_id
      LIMIT ${limit}`,
  )
}
