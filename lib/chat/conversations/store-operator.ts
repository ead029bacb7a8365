import type { Queries } from '../../storage/database.ts'
import { ACTIVE_AT } from '../../storage/sql.ts'
import type { OverviewRow, ParticipantFacts } from './schema-operator.ts'

/** The threads are counted for each row of a page, by their index. */
const COLUMNS = `c.id, c.title, c.is_group, c.ref, c.created_at, ${ACTIVE_AT} AS active_at, c.message_count AS messages,
  c.participant_count,
  (SELECT count(*) FROM threads t WHERE t.conversation_id = c.id) AS threads`

/** Up to `limit` conversations after one, oldest first, maybe of one user. By primary key. */
export function listOverviews(
  db: Queries,
  {
    after,
    limit,
    user_id,
    ref,
  }: { after: string; limit: number; user_id?: string | undefined; ref?: string | undefined },
): Promise<OverviewRow[]> {
  const ofUser = 'AND EXISTS (SELECT 1 FROM participants u WHERE u.conversation_id = c.id AND u.user_id = ?)'
  return db.all<OverviewRow>(
    `SELECT ${COLUMNS} FROM conversations c
      WHERE c.deleted_at IS NULL AND c.id > ? ${user_id === undefined ? '' : ofUser} ${ref === undefined ? '' : 'AND c.ref = ?'}
      ORDER BY c.id
      LIMIT ?`,
    after,
    ...(user_id === undefined ? [] : [user_id]),
    ...(ref === undefined ? [] : [ref]),
    limit,
  )
}

/** By primary key. */
export function findOverview(db: Queries, id: string): Promise<OverviewRow | undefined> {
  return db.get<OverviewRow>(`SELECT ${COLUMNS} FROM conversations c WHERE c.id = ? AND c.deleted_at IS NULL`, id)
}

/** The first participants of a conversation. By primary key. */
export function listPeopleOf(db: Queries, conversationId: string, limit: number): Promise<ParticipantFacts[]> {
  return db.all<ParticipantFacts>(
    `SELECT p.user_id, u.username, p.role
       FROM participants p JOIN users u ON u.id = p.user_id
      WHERE p.conversation_id = ?
      ORDER BY p.joined_at, p.user_id
      LIMIT ?`,
    conversationId,
    limit,
  )
}
