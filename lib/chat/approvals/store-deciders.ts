import type { UserKind } from '../../accounts/users/rules.ts'
import type { Queries } from '../../storage/database.ts'
import { isAbandoned, literal, type Micros, type Sql, sql } from '../../storage/sql.ts'
import type { ParticipantSettings } from '../memberships/rules-settings.ts'
import type { Standing } from './store.ts'

/** A participant who may be told of a call, with what decides about it. */
export interface Candidate extends ParticipantSettings, Standing {
  is_direct: number
  roles: string
  kind: UserKind
  disabled_at: Micros | null
  is_abandoned: number
}

/** So many of the latest messages, of each sort, tell who is active. */
const LATEST = 200

/**
 * Up to `limit` participants: the user who asked, owners, admins and, with `with_members`, others: who has written last is first,
 * then who has joined last. By the latest messages, participants_managing and participants_by_joining.
 */
export function listCandidates(
  tx: Queries,
  conversationId: string,
  { asker_id, with_members, limit }: { asker_id: string | null; with_members: boolean; limit: number },
): Promise<Candidate[]> {
  const latestOf = (condition: Sql) => sql`SELECT posted_by, created_at FROM (SELECT posted_by, created_at FROM messages
      WHERE conversation_id = ${conversationId} AND ${condition} ORDER BY created_at DESC LIMIT ${literal(LATEST)}) AS part`
  const members = sql`UNION SELECT posted_by FROM latest
          UNION SELECT user_id FROM (SELECT user_id FROM participants WHERE conversation_id = ${conversationId}
                                      ORDER BY joined_at DESC, user_id DESC LIMIT ${limit}) AS joined`
  return tx.all<Candidate>(
    sql`WITH latest AS (SELECT posted_by, max(created_at) AS at
                     FROM (${latestOf(sql`parent_id IS NULL`)} UNION ALL ${latestOf(sql`parent_id IS NOT NULL`)}) AS written
                    GROUP BY posted_by),
          wanted AS (SELECT CAST(${asker_id} AS TEXT) AS user_id
          UNION SELECT user_id FROM participants
           WHERE conversation_id = ${conversationId} AND role IN ('owner', 'admin') ${with_members ? members : sql``})
     SELECT p.user_id, p.level, p.muted_until, p.archived, p.role, c.is_direct, c.policy, c.frozen_at,
            u.roles, u.kind, u.disabled_at, ${isAbandoned(sql`u`)} AS is_abandoned
       FROM wanted w JOIN participants p ON p.conversation_id = ${conversationId} AND p.user_id = w.user_id
       JOIN conversations c ON c.id = p.conversation_id AND c.deleted_at IS NULL
       JOIN users u ON u.id = p.user_id
       LEFT JOIN latest AS active ON active.posted_by = p.user_id
      ORDER BY CASE WHEN p.user_id = ${asker_id} THEN 0 WHEN p.role = 'owner' THEN 1 WHEN p.role = 'admin' THEN 2 ELSE 3 END,
               coalesce(active.at, 0) DESC, p.joined_at DESC, p.user_id
      LIMIT ${limit}`,
  )
}
