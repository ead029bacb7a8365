import type { Queries } from '../../storage/database.ts'
import { type Micros, sql } from '../../storage/sql.ts'
import type { NotificationKind } from './schema.ts'

/** A notification of kind `approval` before a change. */
export interface ApprovalNotification {
  user_id: string
  kind: NotificationKind
  read_at: Micros | null
  hidden: number
}

/** Removes the notifications of kind `approval` of a message that are read: another one may be made. By primary key. */
export async function removeReadApprovals(tx: Queries, messageId: string): Promise<void> {
  await tx.run(sql`DELETE FROM notifications WHERE id = ${messageId} AND kind = 'approval' AND read_at IS NOT NULL`)
}

/** Removes the notification of kind `approval` that a user has of a message, if it is shown. By primary key. @returns what was removed */
export function removeApproval(tx: Queries, messageId: string, userId: string): Promise<ApprovalNotification[]> {
  return tx.all<ApprovalNotification>(
    sql`DELETE FROM notifications WHERE id = ${messageId} AND user_id = ${userId} AND kind = 'approval' AND hidden = 0
      RETURNING user_id, kind, read_at, hidden`,
  )
}

/** Marks the notifications of kind `approval` of a message as read. By primary key. @returns those that were shown, as they were */
export async function readApprovals(tx: Queries, messageId: string, now: Micros): Promise<ApprovalNotification[]> {
  const rows = await tx.all<ApprovalNotification>(
    sql`UPDATE notifications SET read_at = ${now} WHERE id = ${messageId} AND kind = 'approval' AND read_at IS NULL
      RETURNING user_id, kind, read_at, hidden`,
  )
  return rows.flatMap((row) => (row.hidden === 0 ? { ...row, read_at: null } : []))
}
