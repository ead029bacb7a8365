import type { Queries } from '../../storage/database.ts'
import { FILL_FORMER } from '../../storage/schema/0052-names.ts'
import { literal, sql } from '../../storage/sql.ts'

/** Notes that a user was a participant: what the user wrote stays, and has an author. */
export async function insertFormer(tx: Queries, conversationId: string, userId: string): Promise<void> {
  await tx.run(
    sql`INSERT INTO former_participants (user_id, conversation_id) VALUES (${userId}, ${conversationId})
          ON CONFLICT DO NOTHING`,
  )
}

/**
 * Notes the former participants who wrote or read in up to `limit` threads after one. By primary keys.
 *
 * @returns the last of these threads, if there may be more
 */
export async function fillFormer(tx: Queries, after: string, limit: number): Promise<string | undefined> {
  const rows = await tx.all<{ root_id: string }>(
    sql`SELECT root_id FROM threads WHERE root_id > ${after} ORDER BY root_id LIMIT ${limit}`,
  )
  const last = rows.at(-1)?.root_id
  if (last === undefined) return undefined
  await tx.run(sql`${FILL_FORMER} AND m.root_id > ${after} AND m.root_id <= ${last} ON CONFLICT DO NOTHING`)
  return rows.length === limit ? last : undefined
}

/** Whether there are any threads: without one, there are no former participants. */
export async function hasThreads(db: Queries): Promise<boolean> {
  return Boolean(await db.get(sql`SELECT 1 AS found FROM threads LIMIT 1`))
}

const FILLED = literal('former_participants')

/** Notes that the former participants of a database are known, or become so. @returns false if that was noted before */
export async function noteFilled(tx: Queries): Promise<boolean> {
  return (await tx.run(sql`INSERT INTO meta (name, value) VALUES (${FILLED}, '1') ON CONFLICT DO NOTHING`)) === 1
}

/** Whether {@link noteFilled} was called. */
export async function isFilled(db: Queries): Promise<boolean> {
  return Boolean(await db.get(sql`SELECT 1 AS found FROM meta WHERE name = ${FILLED}`))
}
