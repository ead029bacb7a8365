import type { Queries } from '../storage/database.ts'
import type { Micros } from '../storage/sql.ts'
import type { AuditAct } from './schema.ts'

/** Who did what to whom, from where. It holds no secret, and no address of somebody who has no account. */
export interface AuditEntry {
  act: AuditAct
  /** A user; missing for the command line, and for who is not signed in. */
  actor_id?: string | undefined
  /** The user it was done to, or the id of what else it was about. */
  subject_id?: string | undefined
  ip?: string | undefined
  detail?: Record<string, string | number | boolean | string[]>
}

export async function insertAuditEntry(tx: Queries, id: string, at: Micros, entry: AuditEntry): Promise<void> {
  await tx.run(
    'INSERT INTO audit_log (id, at, act, actor_id, subject_id, ip, detail) VALUES (?, ?, ?, ?, ?, ?, ?)',
    id,
    at,
    entry.act,
    entry.actor_id ?? null,
    entry.subject_id ?? null,
    entry.ip ?? null,
    entry.detail ? JSON.stringify(entry.detail) : null,
  )
}
