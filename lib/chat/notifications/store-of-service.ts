import type { Queries } from '../../storage/database.ts'
import { among, type Micros, sql } from '../../storage/sql.ts'

/** A notification of the service itself, about a webhook of its user. */
export interface NewOfService {
  id: string
  user_id: string
  at: Micros
  webhook_id: string
}

export async function insertOfService(tx: Queries, { id, user_id, at, webhook_id }: NewOfService): Promise<void> {
  await tx.run(
    sql`INSERT INTO notifications (user_id, id, kind, at, webhook_id)
      VALUES (${user_id}, ${id}, 'system', ${at}, ${webhook_id})`,
  )
}

/** The unread notifications of kind `system` of a user up to an instant. By notifications_of_service. */
export async function listUnreadOfService(db: Queries, userId: string, upTo: Micros): Promise<string[]> {
  const rows = await db.all<{ id: string }>(
    sql`SELECT id FROM notifications
      WHERE user_id = ${userId} AND kind = 'system' AND read_at IS NULL AND at <= ${upTo} ORDER BY at, id`,
  )
  return rows.map(({ id }) => id)
}

/** Marks notifications of kind `system` as read. By primary key. @returns the ids of those that were not */
export async function readOfService(
  tx: Queries,
  userId: string,
  ids: readonly string[],
  now: Micros,
): Promise<string[]> {
  if (ids.length === 0) return []
  const rows = await tx.all<{ id: string }>(
    sql`UPDATE notifications SET read_at = ${now}
      WHERE user_id = ${userId} AND id ${among(tx, ids)} AND kind = 'system' AND read_at IS NULL RETURNING id`,
  )
  return rows.map(({ id }) => id)
}
