import type { Queries } from '../../storage/database.ts'
import { isOneOf, jsonList, type Micros } from '../../storage/sql.ts'
import { isCounted } from './rules.ts'
import type { NotificationKind } from './schema.ts'

/** A message whose notifications change, in a conversation that is locked. */
export interface ChangedMessage {
  id: string
  conversation_id: string
  root_id: string
  posted_by: string | null
  created_at: Micros
}

/** A notification after a change. */
export interface Changed {
  user_id: string
  kind: NotificationKind
  read_at: Micros | null
  hidden: number
}

export const CHANGED = 'user_id, kind, read_at, hidden'

/** Changes the unread mentions of the users of these, which are unread. @returns the users with an unread one */
export async function countBy(
  tx: Queries,
  conversationId: string,
  rows: Pick<Changed, 'user_id' | 'kind' | 'read_at'>[],
  by: 1 | -1,
): Promise<string[]> {
  const unread = rows.filter(({ read_at }) => read_at === null)
  const counted = unread.filter(({ kind }) => isCounted(kind)).map(({ user_id }) => user_id)
  if (counted.length > 0)
    await tx.run(
      `UPDATE participants SET unread_mentions = unread_mentions + ?
        WHERE conversation_id = ? AND user_id ${isOneOf(tx.dialect)}`,
      by,
      conversationId,
      jsonList(counted),
    )
  return unread.map(({ user_id }) => user_id)
}
