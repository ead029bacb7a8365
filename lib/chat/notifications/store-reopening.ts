import type { Queries } from '../../storage/database.ts'
import { type Micros, type Sql, sql } from '../../storage/sql.ts'
import { IS_UNREAD, type Reader } from '../../storage/unread-set.ts'
import type { Changed } from './store-changes.ts'

/** What a mark puts back: the messages of a thread, or the roots of the conversation, that arrived at an instant or later. */
export interface PutBack {
  root_id?: string
  from: Micros
}

const CHANGED = sql`user_id, kind, read_at, hidden`

/** The read notifications `n` from an instant on, with the message `m` that the condition names, if that is read. */
function readOnes({ user_id, conversation_id }: Reader, { from, root_id }: PutBack, condition: Sql): Sql {
  const inScope = root_id === undefined ? sql`m.parent_id IS NULL` : sql`m.root_id = ${root_id}`
  return sql`SELECT n.id FROM notifications n CROSS JOIN messages m CROSS JOIN participants p CROSS JOIN threads t
      LEFT JOIN thread_members r ON r.root_id = t.root_id AND r.user_id = p.user_id
     WHERE n.user_id = ${user_id} AND n.at >= ${from} AND n.read_at IS NOT NULL AND ${condition}
       AND m.conversation_id = ${conversation_id} AND m.created_at >= ${from} AND ${inScope} AND t.root_id = m.root_id
       AND p.conversation_id = ${conversation_id} AND p.user_id = ${user_id} AND m.created_at > p.joined_at
       AND coalesce(m.posted_by, '') <> p.user_id AND NOT ${IS_UNREAD}`
}

/**
 * Makes the notifications of messages unread that a mark is about to put back. By (user_id, at, id, read_at): costs as the
 * newer part of the inbox, however long the thread is.
 */
export function reopenOfMessages(tx: Queries, reader: Reader, back: PutBack): Promise<Changed[]> {
  return tx.all<Changed>(
    sql`UPDATE notifications SET read_at = NULL
      WHERE user_id = ${reader.user_id} AND id IN (${readOnes(reader, back, sql`m.id = n.id`)}) RETURNING ${CHANGED}`,
  )
}
