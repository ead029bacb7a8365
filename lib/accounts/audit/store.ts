import type { Log } from '../../context.ts'
import { LONGEST } from '../../core/lengths.ts'
import { SECOND, toInstant } from '../../core/time.ts'
import type { Queries } from '../../storage/database.ts'
import { isOneOf, jsonList, type Micros } from '../../storage/sql.ts'
import type { AuditAct, AuditRecord } from './schema.ts'

/**
 * The actor, action, subject and address of an entry. It contains no secret, and no email address without an account.
 */
export interface AuditEntry {
  act: AuditAct
  /** A user; missing for the command line, and for a caller who is not signed in. */
  actor_id?: string | undefined
  /** The user the action concerned, or the id of another subject. */
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

/** Writes an entry that is stored to the log of the process. */
export function logAuditEntry(log: Log, { detail, ...entry }: AuditEntry): void {
  log.info('audit', { ...entry, ...detail })
}

/** {@link insertAuditEntry} of a process that one person runs: acts without an actor are by that person. */
export function auditBy(operator: string | undefined): typeof insertAuditEntry {
  if (operator === undefined) return insertAuditEntry
  const name = operator.slice(0, LONGEST.username)
  return (tx, id, at, entry) =>
    insertAuditEntry(tx, id, at, entry.actor_id ? entry : { ...entry, detail: { ...entry.detail, operator: name } })
}

/** Deletes up to `limit` entries older than `before`, the oldest first. By primary key. @returns the number deleted */
export function deleteEntriesBefore(tx: Queries, before: Micros, limit: number): Promise<number> {
  // Ids increase with time, so no index of instants is needed, which every action would have to update.
  return tx.run(
    `DELETE FROM audit_log WHERE id IN (
       SELECT id FROM (SELECT id, at FROM audit_log ORDER BY id LIMIT ?) AS oldest WHERE at < ?)`,
    limit,
    before,
  )
}

/** An entry as it is stored. */
export interface AuditRow {
  id: string
  at: Micros
  act: AuditAct
  actor_id: string | null
  subject_id: string | null
  ip: string | null
  detail: string | null
}

/** A row as an administrator reads it. */
export function toRecord(row: AuditRow): AuditRecord {
  const { id, at, act, actor_id, subject_id, ip, detail } = row
  return {
    id,
    at: toInstant(at),
    act,
    ...(actor_id && { actor_id }),
    ...(subject_id && { subject_id }),
    ...(ip && { ip }),
    ...(detail && { detail: JSON.parse(detail) as NonNullable<AuditRecord['detail']> }),
  }
}

/** The filter: entries of an action, and those with a user as actor or subject. */
export interface AuditFilter {
  act?: AuditAct | undefined
  user_id?: string | undefined
}

/** Ids increase with time: the newest are the largest. This is larger than any. */
const BEYOND_ALL = 'g'

/**
 * Up to `limit` entries before `after`, newest first, out of the next `window` of all entries. By primary key.
 */
export function listEntries(
  db: Queries,
  after: string | undefined,
  { act, user_id }: AuditFilter,
  { limit, window }: { limit: number; window: number },
): Promise<AuditRow[]> {
  const conditions = [...(act ? ['act = ?'] : []), ...(user_id ? ['(actor_id = ? OR subject_id = ?)'] : [])]
  const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''
  return db.all<AuditRow>(
    `SELECT id, at, act, actor_id, subject_id, ip, detail
       FROM (SELECT id, at, act, actor_id, subject_id, ip, detail FROM audit_log
              WHERE id < ?
              ORDER BY id DESC
              LIMIT ?) AS entries
      ${where}
      ORDER BY id DESC
      LIMIT ?`,
    after ?? BEYOND_ALL,
    window,
    ...(act ? [act] : []),
    ...(user_id ? [user_id, user_id] : []),
    limit,
  )
}

/** The last of the next `window` entries before `after`, if there are as many. By primary key. */
export async function findWindowEnd(
  db: Queries,
  after: string | undefined,
  window: number,
): Promise<string | undefined> {
  const row = await db.get<{ id: string }>(
    'SELECT id FROM audit_log WHERE id < ? ORDER BY id DESC LIMIT 1 OFFSET ?',
    after ?? BEYOND_ALL,
    window - 1,
  )
  return row?.id
}

/** How far back sign-ins are counted, and how many entries are read for it. */
const COUNTED_SECONDS = 24 * 60 * 60
const COUNTED_ENTRIES = 100_000

const SIGN_INS = { succeeded: 'login.succeeded', failed: 'login.failed', throttled: 'login.throttled' } as const

/** The sign-ins of the last 24 hours, as far as the newest entries reach. By primary key. */
export async function countSignIns(
  db: Queries,
  now: Micros,
): Promise<{ since: Micros; succeeded: number; failed: number; throttled: number }> {
  const since = now - COUNTED_SECONDS * SECOND
  const rows = await db.all<{ act: AuditAct; count: number }>(
    `SELECT act, count(*) AS count
       FROM (SELECT act, at FROM audit_log ORDER BY id DESC LIMIT ?) AS newest
      WHERE at >= ? AND act ${isOneOf(db.dialect)}
      GROUP BY act`,
    COUNTED_ENTRIES,
    since,
    jsonList(Object.values(SIGN_INS)),
  )
  const count = (act: AuditAct) => rows.find((row) => row.act === act)?.count ?? 0
  const { succeeded, failed, throttled } = SIGN_INS
  return { since, succeeded: count(succeeded), failed: count(failed), throttled: count(throttled) }
}

/** Those of these entries that are stored. By primary key. */
export async function findStoredEntries(db: Queries, ids: Iterable<string>): Promise<Set<string>> {
  const rows = await db.all<{ id: string }>(`SELECT id FROM audit_log WHERE id ${isOneOf(db.dialect)}`, jsonList(ids))
  return new Set(rows.map(({ id }) => id))
}
