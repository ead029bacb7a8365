import type { Queries } from './database.ts'
import { among, sql } from './sql.ts'

/** The condition of the index of unread notifications that are no mentions. */
export const IS_COUNTED_APART = sql`kind IN ('direct', 'added')`

/** Participants of a conversation whose unread mentions change by the same number. */
export interface MentionGroup {
  count: number
  conversation_id: string
  ids: readonly string[]
}

/** Adds to the unread mentions of participants, or takes away. */
export async function addToMentions(tx: Queries, groups: readonly MentionGroup[], by: 1 | -1): Promise<void> {
  for (const { count, conversation_id, ids } of groups)
    await tx.run(
      sql`UPDATE participants SET unread_mentions = unread_mentions + ${by * count}
        WHERE conversation_id = ${conversation_id} AND user_id ${among(tx, ids)}`,
    )
}
