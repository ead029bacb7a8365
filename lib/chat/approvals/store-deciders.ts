import type { Queries } from '../../storage/database.ts'
import { literal, type Sql, sql } from '../../storage/sql.ts'
import type { ParticipantSettings } from '../memberships/rules-settings.ts'

/** A participant who may be told of a call, with the settings that decide about it. */
export interface Candidate extends ParticipantSettings {
  is_direct: number
}

/** So many of the latest messages, of each sort, tell who is active. */
const LATEST = 200

/**
 * Up to `limit` participants: the user who asked, owners, admins and, with `with_members`, others: who has written last is first.
 * By the participants of the conversation, and its latest messages.
 */
export function listCandidates(
  tx: Queries,
  conversationId: string,
  { asker_id, with_members, limit }: { asker_id: string | null; with_members: boolean; limit: number },
): Promise<Candidate[]> {
  const latestOf = (condition: Sql) => sql`SELECT posted_by, created_at FROM (SELECT posted_by, created_at FROM messages
      WHERE conversation_id = ${conversationId} AND ${condition} ORDER BY created_at DESC LIMIT ${literal(LATEST)}) AS part`
  const wanted = with_members ? sql`` : sql`AND (p.user_id = ${asker_id} OR p.role IN ('owner', 'admin'))`
  return tx.all<Candidate>(
    sql`SELECT p.user_id, p.level, p.muted_until, p.archived, c.is_direct
       FROM participants p JOIN conversations c ON c.id = p.conversation_id
       LEFT JOIN (SELECT posted_by, max(created_at) AS at FROM (${latestOf(sql`parent_id IS NULL`)} UNION ALL ${latestOf(sql`parent_id IS NOT NULL`)}) AS latest
                   GROUP BY posted_by) AS active ON active.posted_by = p.user_id
      WHERE p.conversation_id = ${conversationId} ${wanted}
      ORDER BY CASE WHEN p.user_id = ${asker_id} THEN 0 WHEN p.role = 'owner' THEN 1 WHEN p.role = 'admin' THEN 2 ELSE 3 END,
               coalesce(active.at, 0) DESC, p.joined_at DESC, p.user_id
      LIMIT ${limit}`,
  )
}
