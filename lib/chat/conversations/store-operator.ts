import type { Queries } from '../../storage/database.ts'
import { ACTIVE_AT, sql, where } from '../../storage/sql.ts'
import type { OverviewRow, ParticipantFacts } from './schema-operator.ts'

/** The threads are counted for each row of a page, by their index. */
const COLUMNS = sql`c.id, c.title, c.is_group, c.is_direct, c.layout, c.ref, c.created_at, ${ACTIVE_AT} AS active_at,
       c.message_count AS messages,
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
  const ofUser = sql`EXISTS (SELECT 1 FROM participants u WHERE u.conversation_id = c.id
         AND u.user_id = ${user_id ?? null})`
  return db.all<OverviewRow>(
    sql`SELECT ${COLUMNS} FROM conversations c
      ${where(
        sql`c.deleted_at IS NULL AND c.id > ${after}`,
        user_id !== undefined && ofUser,
        ref !== undefined && sql`c.ref = ${ref}`,
      )}
      ORDER BY c.id
      LIMIT ${limit}`,
  )
}

/** By primary key. */
export function findOverview(db: Queries, id: string): Promise<OverviewRow | undefined> {
  return db.get<OverviewRow>(sql`SELECT ${COLUMNS} FROM conversations c WHERE c.id = ${id} AND c.deleted_at IS NULL`)
}

/** The first participants of a conversation. By primary key. */
export function listPeopleOf(db: Queries, conversationId: string, limit: number): Promise<ParticipantFacts[]> {
  return db.all<ParticipantFacts>(
    sql`SELECT p.user_id, u.username, p.role
       FROM participants p JOIN users u ON u.id = p.user_id
      WHERE p.conversation_id = ${conversationId}
      ORDER BY p.joined_at, p.user_id
      LIMIT ${limit}`,
  )
}
