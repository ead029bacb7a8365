import type { Queries } from '../../storage/database.ts'
import { among, type Micros, type Sql, sql } from '../../storage/sql.ts'
import { SEEN_COUNT } from '../../storage/unread-set.ts'
import type { NotifiedReader } from '../notifications/store-reading.ts'

/** How far the counts of participants are counted anew. */
export interface Recount {
  /** The number of migrations that the program knew. */
  schema: number
  /** When an older program was last beside. */
  older_at?: Micros
  /** The last participant that was counted, while counting. */
  after?: { conversation_id: string; user_id: string }
}

/** By primary key. @param options.lock waits for another process that counts */
export async function findRecount(db: Queries, { lock = false } = {}): Promise<Recount | undefined> {
  const locked = lock && db.dialect === 'postgresql' ? sql`FOR UPDATE` : sql``
  const row = await db.get<{ value: string }>(sql`SELECT value FROM meta WHERE name = 'recount' ${locked}`)
  return row && (JSON.parse(row.value) as Recount)
}

/** Stores how far it is. By primary key. */
export async function setRecount(tx: Queries, recount: Recount): Promise<void> {
  await tx.run(
    sql`INSERT INTO meta (name, value) VALUES ('recount', ${JSON.stringify(recount)})
     ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
  )
}

/** Up to `limit` participants of one conversation, behind one. By primary key. */
export async function listNextParticipants(
  db: Queries,
  { conversation_id, user_id }: NonNullable<Recount['after']>,
  limit: number,
): Promise<{ conversation_id: string; user_id: string }[]> {
  const rows = await db.all<{ conversation_id: string; user_id: string }>(
    sql`SELECT conversation_id, user_id FROM participants
      WHERE (conversation_id, user_id) > (${conversation_id}, ${user_id})
      ORDER BY conversation_id, user_id LIMIT ${limit}`,
  )
  return rows.filter((row) => row.conversation_id === rows[0]!.conversation_id)
}

/** Statements that count anew for participants `p`, which the condition names: what an older program counts wrong. */
const RECOUNTS: readonly ((condition: Sql) => Sql)[] = [
  // The parts are counted after it: they may be wrong although their sum is right.
  (condition) =>
    sql`UPDATE participants AS p SET seen_count = ${SEEN_COUNT}, followed_unread = NULL WHERE ${condition}`,
]

/** The participants of a conversation, of these, who may have an unread notification of a thread, or of the direct conversation. */
export function listNotified(tx: Queries, conversationId: string, userIds: string[]): Promise<NotifiedReader[]> {
  return tx.all<NotifiedReader>(
    sql`SELECT p.user_id, p.conversation_id, c.is_direct, p.unread_mentions
       FROM participants p JOIN conversations c ON c.id = p.conversation_id
      WHERE p.conversation_id = ${conversationId} AND p.user_id ${among(tx, userIds)}
        AND (c.is_direct = 1 OR p.unread_mentions > 0)`,
  )
}

/** Counts anew for participants of a conversation, which is locked. Costs as the threads since each has joined. */
export async function recountParticipants(tx: Queries, conversationId: string, userIds: string[]): Promise<void> {
  const condition = sql`p.conversation_id = ${conversationId} AND p.user_id ${among(tx, userIds)}`
  for (const recount of RECOUNTS) await tx.run(recount(condition))
}
