import type { Queries } from '../../storage/database.ts'
import { sql } from '../../storage/sql.ts'
import type { AutoJoin } from '../conversations/schema-settings.ts'

/** Any number: its holder changes which conversations are joined automatically; new accounts share it. */
const AUTO_JOIN_LOCK = 7_201_998

/**
 * Waits until no transaction creates an account, and lets the next ones wait for this one: each new account either joins the
 * conversation itself, or is found by the task. Locked before any conversation.
 */
export async function lockAutoJoin(tx: Queries): Promise<void> {
  if (tx.dialect === 'postgresql') await tx.get(sql`SELECT pg_advisory_xact_lock(${AUTO_JOIN_LOCK})`)
}

/** The conversations that new accounts join, in the order of their ids. They stay so until the transaction ends. */
export async function listAutoJoin(tx: Queries): Promise<{ id: string; auto_join: AutoJoin }[]> {
  if (tx.dialect === 'postgresql') await tx.get(sql`SELECT pg_advisory_xact_lock_shared(${AUTO_JOIN_LOCK})`)
  return tx.all(
    sql`SELECT id, auto_join FROM conversations
      WHERE auto_join IS NOT NULL AND deleted_at IS NULL AND frozen_at IS NULL ORDER BY id`,
  )
}

/** The number of conversations with automatic joins besides one. By the index `automatic_joins`. */
export async function countAutoJoin(tx: Queries, exceptId: string): Promise<number> {
  const row = await tx.get<{ count: number }>(
    sql`SELECT count(*) AS count FROM conversations WHERE auto_join IS NOT NULL AND id <> ${exceptId}`,
  )
  return row!.count
}

/** A user of a page, and whether the user is, or was, a participant. */
export interface Candidate {
  id: string
  roles: string
  has_joined: number
}

/** Up to `limit` active users after one, by id, locked: none is erased or merged before the transaction ends. */
export function lockCandidates(
  tx: Queries,
  conversationId: string,
  after: string,
  limit: number,
): Promise<Candidate[]> {
  return tx.all<Candidate>(
    sql`SELECT u.id, u.roles,
          CASE WHEN EXISTS (SELECT 1 FROM participants p WHERE p.conversation_id = ${conversationId} AND p.user_id = u.id)
                 OR EXISTS (SELECT 1 FROM former_participants f
                             WHERE f.user_id = u.id AND f.conversation_id = ${conversationId})
               THEN 1 ELSE 0 END AS has_joined
       FROM users u
      WHERE u.id > ${after} AND u.disabled_at IS NULL AND u.system_name IS NULL AND u.kind <> 'bot'
      ORDER BY u.id
      LIMIT ${limit} ${tx.dialect === 'postgresql' ? sql`FOR UPDATE OF u` : sql``}`,
  )
}
