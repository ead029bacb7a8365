import { toInstant } from '../../core/time.ts'
import type { Queries } from '../../storage/database.ts'
import { among, type Micros, sql } from '../../storage/sql.ts'
import type { Feedback, FeedbackOfUser } from './schema.ts'

/** What a user thinks of an answer. */
export interface FeedbackRow {
  id: string
  message_id: string
  user_id: string
  rating: Feedback['rating']
  reason: string | null
  at: Micros
}

/** Stores what a user thinks of an answer, instead of what the user thought before. */
export async function putFeedback(tx: Queries, row: FeedbackRow): Promise<void> {
  await tx.run(
    sql`INSERT INTO answer_feedback (id, message_id, user_id, rating, reason, at)
     VALUES (${row.id}, ${row.message_id}, ${row.user_id}, ${row.rating}, ${row.reason}, ${row.at})
     ON CONFLICT (user_id, message_id)
     DO UPDATE SET id = excluded.id, rating = excluded.rating, reason = excluded.reason, at = excluded.at`,
  )
}

export async function deleteFeedback(tx: Queries, userId: string, messageId: string): Promise<void> {
  await tx.run(sql`DELETE FROM answer_feedback WHERE user_id = ${userId} AND message_id = ${messageId}`)
}

/** What a user thinks of these answers, by their ids. By (user_id, message_id). */
export async function listOwnFeedback(
  db: Queries,
  userId: string,
  messageIds: readonly string[],
): Promise<Map<string, Feedback>> {
  const rows = await db.all<Pick<FeedbackRow, 'message_id' | 'rating' | 'reason'>>(
    sql`SELECT message_id, rating, reason FROM answer_feedback
      WHERE user_id = ${userId} AND message_id ${among(db, messageIds)}`,
  )
  return new Map(rows.map(({ message_id, ...row }) => [message_id, toFeedback(row)]))
}

const toFeedback = ({ rating, reason }: Pick<FeedbackRow, 'rating' | 'reason'>): Feedback => {
  return { rating, ...(reason !== null && { reason }) }
}

/** A page of what all users think of answers, latest first, without users who are being erased. By primary key. */
export async function listFeedback(
  db: Queries,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<(FeedbackOfUser & { id: string })[]> {
  const rows = await db.all<FeedbackRow>(
    sql`SELECT id, message_id, user_id, rating, reason, at FROM answer_feedback
      WHERE ${after === undefined ? sql`true` : sql`id < ${after}`}
            AND NOT EXISTS (SELECT 1 FROM erased_authors gone WHERE gone.user_id = answer_feedback.user_id)
      ORDER BY id DESC LIMIT ${limit}`,
  )
  return rows.map(({ id, message_id, user_id, at, ...row }) => {
    return { id, message_id, user_id, ...toFeedback(row), at: toInstant(at) }
  })
}

/** Deletes up to `limit` ratings of a user. By (user_id, message_id). @returns the number of rows */
export function wipeFeedback(tx: Queries, userId: string, limit: number): Promise<number> {
  return tx.run(
    sql`DELETE FROM answer_feedback WHERE id IN (
          SELECT id FROM answer_feedback WHERE user_id = ${userId} LIMIT ${limit})`,
  )
}

/** Lets another user have rated what a user has rated; of an answer that both have rated, the other one's stays. */
export async function moveFeedback(
  tx: Queries,
  { from_id, into_id }: { from_id: string; into_id: string },
): Promise<void> {
  await tx.run(
    sql`UPDATE answer_feedback SET user_id = ${into_id}
      WHERE user_id = ${from_id} AND NOT EXISTS (SELECT 1 FROM answer_feedback own
            WHERE own.user_id = ${into_id} AND own.message_id = answer_feedback.message_id)`,
  )
  await tx.run(sql`DELETE FROM answer_feedback WHERE user_id = ${from_id}`)
}
