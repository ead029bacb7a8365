import type { Log } from '../../context.ts'
import type { Cutoff } from '../../core/clock.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'
import type { Place } from '../../core/pages.ts'
import { toInstant } from '../../core/time.ts'
import { SECOND } from '../../core/units.ts'
import type { Change, Commit } from '../../live/transaction/commits.ts'
import type { Queries, Writing } from '../../storage/database.ts'
import { among, type Micros, type Sql, sql, where } from '../../storage/sql.ts'
import type { EndReason } from '../means/rules.ts'
import type { AuditAct, AuditRecord, NamedAuditRecord } from './schema.ts'

/**
 * The actor, action, subject and address of an entry. It contains no secret, and no email address without an account.
 */
export interface AuditEntry {
  act: AuditAct
  /** A user; missing for the command line, and for a caller that is not signed in. */
  actor_id?: string | undefined
  /** The user the action concerned, or the id of another subject. */
  subject_id?: string | undefined
  conversation_id?: string | undefined
  ip?: string | undefined
  /** The server key that acted for the actor; it is one of the details. */
  server_key?: string | undefined
  detail?: Record<string, string | number | boolean | string[]>
  /** Titles and names of keys. Only the operator reads them: they are in no log, and in no answer over HTTP. */
  names?: Record<string, string>
  /** Whether a running node is to log it as well: an act of the command line. */
  unlogged?: true
}

/** The actor of an entry: the user, the address, and the server key that acted for the user. */
export type AuditActor = Pick<AuditEntry, 'actor_id' | 'ip' | 'server_key'>

async function insertAuditEntry(tx: Queries, id: string, at: Micros, entry: AuditEntry): Promise<void> {
  await tx.run(
    sql`INSERT INTO audit_log (id, at, act, actor_id, subject_id, conversation_id, ip, detail, names, unlogged,
          about_id)
     VALUES (${id}, ${at}, ${entry.act}, ${entry.actor_id ?? null}, ${entry.subject_id ?? null},
             ${entry.conversation_id ?? null}, ${entry.ip ?? null},
             ${entry.detail ? JSON.stringify(entry.detail) : null}, ${entry.names ? JSON.stringify(entry.names) : null},
             ${entry.unlogged ? 1 : null}, ${aboutOf(entry.detail)})`,
  )
}

/** The user that an entry names beside its subject, such as the owner of a key or the author of a message. */
function aboutOf({ user_id, author_id }: NonNullable<AuditEntry['detail']> = {}): string | null {
  return ((user_id ?? author_id) as string | undefined) ?? null
}

/** Writes an entry that is stored to the log of the process. */
function logAuditEntry(log: Log, { detail, names: _, unlogged: __, ...entry }: AuditEntry): void {
  log.info('audit', { ...entry, ...detail })
}

/**
 * Stores the entries of each change with it, and logs them when they are durable. If one person runs the process, all
 * entries are by that person.
 */
export function createAuditLog({ operator, log, now }: { operator: string | undefined; log: Log; now: () => Micros }) {
  const name = operator?.slice(0, MAX_LENGTH.username)
  const complete = ({ server_key, ...given }: AuditEntry): AuditEntry => {
    const entry = server_key === undefined ? given : { ...given, detail: { ...given.detail, server_key } }
    if (name === undefined) return entry
    const detail = { ...entry.detail, operator: name }
    return { ...entry, detail, unlogged: true }
  }
  return {
    store(tx: Writing, { audited }: Pick<Change, 'audited'>): void {
      for (const { id, entry } of audited) tx.defer(insertAuditEntry(tx, id, now(), complete(entry)))
    },
    committed({ audited }: Pick<Commit, 'audited'>): void {
      for (const { entry } of audited) logAuditEntry(log, complete(entry))
    },
  }
}

/** Whether commands have written entries that no node has logged. By audit_log_unlogged. */
export async function hasUnlogged(db: Queries): Promise<boolean> {
  return (await db.get(sql`SELECT id FROM audit_log WHERE unlogged = 1 LIMIT 1`)) !== undefined
}

/** Takes up to `limit` entries of commands, the oldest first: of several nodes one gets each. By audit_log_unlogged. */
export async function takeUnlogged(tx: Queries, limit: number): Promise<AuditRow[]> {
  const rows = await tx.all<AuditRow>(
    sql`UPDATE audit_log SET unlogged = NULL
      WHERE unlogged = 1 AND id IN (SELECT id FROM audit_log WHERE unlogged = 1 ORDER BY at, id LIMIT ${limit})
      RETURNING ${AUDIT_COLUMNS}`,
  )
  return rows.sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))
}

/** Deletes up to `limit` entries older than `before`, the oldest first. By `at`. @returns the number deleted */
export function deleteEntriesBefore(tx: Queries, before: Cutoff, limit: number): Promise<number> {
  return tx.run(
    sql`DELETE FROM audit_log WHERE id IN (SELECT id FROM audit_log WHERE at < ${before} ORDER BY at LIMIT ${limit})`,
  )
}

/** An entry as it is stored. */
export interface AuditRow {
  id: string
  at: Micros
  act: AuditAct
  actor_id: string | null
  subject_id: string | null
  conversation_id: string | null
  ip: string | null
  detail: string | null
  names: string | null
}

/** The columns of an entry. */
export const AUDIT_COLUMNS = sql`id, at, act, actor_id, subject_id, conversation_id, ip, detail, names`

/** A row as an administrator reads it. */
export function toRecord(row: AuditRow): AuditRecord {
  const { id, at, act, actor_id, subject_id, conversation_id, ip, detail } = row
  return {
    id,
    at: toInstant(at),
    act,
    ...(actor_id && { actor_id }),
    ...(subject_id && { subject_id }),
    ...(conversation_id && { conversation_id }),
    ...(ip && { ip }),
    ...(detail && { detail: JSON.parse(detail) as NonNullable<AuditRecord['detail']> }),
  }
}

/** A row as the operator reads it. */
export function toNamedRecord(row: AuditRow): NamedAuditRecord {
  return { ...toRecord(row), ...(row.names && { names: JSON.parse(row.names) as Record<string, string> }) }
}

/** The filter: entries of an action, those with a user as actor or subject, and so on. */
export interface AuditFilter {
  act?: AuditAct | undefined
  user_id?: string | undefined
  subject_id?: string | undefined
  conversation_id?: string | undefined
  since?: Micros | undefined
  /** Excluded. */
  until?: Micros | undefined
}

/** Larger than any character of an id. */
const BEYOND = 'g'

/**
 * The place in the log, which is ordered by time, of the entry `after`; without one, the beginning. If that entry has been
 * deleted, it is the one that was written before it. By primary key. @returns `undefined` if none is left
 */
export async function findPlace(db: Queries, after: string | undefined): Promise<Place | undefined> {
  if (after === undefined) return { at: Number.MAX_SAFE_INTEGER, id: BEYOND }
  const place = await db.get<Place>(sql`SELECT at, id FROM audit_log WHERE id <= ${after} ORDER BY id DESC LIMIT 1`)
  return place && place.id !== after ? { at: place.at, id: place.id + BEYOND } : place
}

/** The conditions that an index answers: of a page with others, it reads a part of what meets these. */
function indexed(before: Place, { subject_id, conversation_id, since, until }: AuditFilter): (Sql | false)[] {
  return [
    sql`(at, id) < (${before.at}, ${before.id})`,
    until !== undefined && sql`at < ${until}`,
    since !== undefined && sql`at >= ${since}`,
    // Which of two filters is rarer is not known: the second is looked for among the entries of the first.
    conversation_id !== undefined && subject_id === undefined && sql`conversation_id = ${conversation_id}`,
  ]
}

/**
 * The newest `window` entries that meet these conditions. Those about a user are the ones with the user as the subject,
 * and those that name the user beside their subject: no entry is both, and each kind has its own index.
 */
function newestOf(before: Place, filter: AuditFilter, window: number): Sql {
  const { subject_id } = filter
  const newest = (about?: Sql) => sql`SELECT ${AUDIT_COLUMNS}, about_id FROM audit_log
    ${where(about, ...indexed(before, filter))} ORDER BY at DESC, id DESC LIMIT ${window}`
  if (subject_id === undefined) return newest()
  return sql`SELECT * FROM (SELECT * FROM (${newest(sql`subject_id = ${subject_id}`)}) AS of_subject
      UNION ALL SELECT * FROM (${newest(sql`about_id = ${subject_id}`)}) AS about) AS entries
    ORDER BY at DESC, id DESC LIMIT ${window}`
}

/**
 * Up to `limit` entries before a place, newest first, out of the next `window` that are read. By audit_log_of_subject
 * and audit_log_about, by audit_log_of_conversation, or by audit_log_by_time.
 */
export function listEntries(
  db: Queries,
  before: Place,
  filter: AuditFilter,
  { limit, window }: { limit: number; window: number },
): Promise<AuditRow[]> {
  const { act, user_id, subject_id, conversation_id } = filter
  const wanted = where(
    act && sql`act = ${act}`,
    !!user_id && sql`${user_id} IN (actor_id, subject_id, about_id)`,
    !!conversation_id && !!subject_id && sql`conversation_id = ${conversation_id}`,
  )
  return db.all<AuditRow>(
    sql`SELECT ${AUDIT_COLUMNS}
       FROM (${newestOf(before, filter, window)}) AS entries
      ${wanted}
      ORDER BY at DESC, id DESC
      LIMIT ${limit}`,
  )
}

/** The last of the next `window` entries that {@link listEntries} reads, if there are as many. */
export async function findWindowEnd(
  db: Queries,
  before: Place,
  filter: AuditFilter,
  window: number,
): Promise<string | undefined> {
  const row = await db.get<{ id: string }>(
    sql`SELECT id FROM (${newestOf(before, filter, window)}) AS entries ORDER BY at DESC, id DESC
      LIMIT 1 OFFSET ${window - 1}`,
  )
  return row?.id
}

/** Whether sessions of a user have ended for a reason since an instant. By audit_log_of_subject. */
export async function hasEnded(
  db: Queries,
  { user_id, reason, since }: { user_id: string; reason: EndReason; since: Micros },
): Promise<boolean> {
  const act: AuditAct = 'session.ended'
  const row = await db.get(
    sql`SELECT id FROM audit_log WHERE subject_id = ${user_id} AND at >= ${since} AND act = ${act}
          AND detail LIKE ${`%"reason":"${reason}"%`} LIMIT 1`,
  )
  return row !== undefined
}

/** How far back sign-ins are counted, and how many entries are read for it. */
const COUNTED_SECONDS = 24 * 60 * 60
const MAX_COUNTED = 100_000

const SIGN_INS = { succeeded: 'login.succeeded', failed: 'login.failed', throttled: 'login.throttled' } as const

/** The sign-ins of the last 24 hours, as far as the newest entries reach. By primary key. */
export async function countSignIns(
  db: Queries,
  now: Micros,
): Promise<{ since: Micros; succeeded: number; failed: number; throttled: number }> {
  const since = now - COUNTED_SECONDS * SECOND
  const rows = await db.all<{ act: AuditAct; count: number }>(
    sql`SELECT act, count(*) AS count
       FROM (SELECT act, at FROM audit_log ORDER BY id DESC LIMIT ${MAX_COUNTED}) AS newest
      WHERE at >= ${since} AND act ${among(db, Object.values(SIGN_INS))}
      GROUP BY act`,
  )
  const count = (act: AuditAct) => rows.find((row) => row.act === act)?.count ?? 0
  const { succeeded, failed, throttled } = SIGN_INS
  return { since, succeeded: count(succeeded), failed: count(failed), throttled: count(throttled) }
}

/** The ids among these whose entries are stored. By primary key. */
export async function findStoredEntries(db: Queries, ids: Iterable<string>): Promise<Set<string>> {
  const rows = await db.all<{ id: string }>(sql`SELECT id FROM audit_log WHERE id ${among(db, ids)}`)
  return new Set(rows.map(({ id }) => id))
}
