import { toInstant } from '../core/time.ts'
import type { Queries } from '../storage/database.ts'
import { among, databaseNow, type Micros, type Sql, sql } from '../storage/sql.ts'
import { mailKey, mailUser, toMailId } from './rules.ts'
import type { MailKind, MailRecord } from './schema.ts'

/** A mail as it is stored: a task. */
export interface MailRow {
  id: string
  kind: 'mail.send' | 'mail.failed'
  key: string
  due_at: Micros
  detail: string
  is_running: number
}

const KINDS = sql`('mail.send', 'mail.failed')`

/** A row as an administrator reads it. */
export function toMailRecord({ kind, key, due_at, detail, is_running }: MailRow): MailRecord {
  const { mail, tries, queued_at, cause } = JSON.parse(detail) as Record<string, string | number>
  const user_id = mailUser(key, { mail })
  const waiting = is_running ? ('sending' as const) : ('waiting' as const)
  return {
    id: toMailId(key),
    kind: String(mail),
    ...(user_id && { user_id }),
    status: kind === 'mail.failed' ? 'failed' : waiting,
    queued_at: toInstant(Number(queued_at)),
    next_at: toInstant(due_at),
    tries: Number(tries ?? 0),
    ...(cause !== undefined && { cause: String(cause) }),
  }
}

/** The number of mails that wait, or of those that were given up. By (kind, key). */
export async function countMails(db: Queries, kind: MailRow['kind']): Promise<number> {
  return (await db.get<{ total: number }>(sql`SELECT count(*) AS total FROM tasks WHERE kind = ${kind}`))!.total
}

/** Whether a reset link to an address waits, and is not being sent. By (kind, key). */
export async function hasWaitingReset(db: Queries, userId: string, addressDigest: string): Promise<boolean> {
  const clock = databaseNow(db.dialect)
  const found = await db.get(
    sql`SELECT 1 AS found FROM tasks
      WHERE kind = 'mail.send' AND ${isMailTo(userId)} AND detail LIKE ${`%"address":"${addressDigest}"%`}
        AND (lease_expires_at IS NULL OR lease_expires_at < ${clock}) LIMIT 1`,
  )
  return found !== undefined
}

/** Deletes all but the newest `keep` mails that were given up. By (kind, key). */
export async function deleteOldestFailed(tx: Queries, keep: number): Promise<void> {
  await tx.run(
    sql`DELETE FROM tasks WHERE kind = 'mail.failed' AND id NOT IN
       (SELECT id FROM tasks WHERE kind = 'mail.failed' ORDER BY due_at DESC, id DESC LIMIT ${keep})`,
  )
}

/** Deletes the mails of users, or of the invites of newcomers. By (kind). @returns the number deleted */
export function deleteMailsToUsers(tx: Queries, ...ids: string[]): Promise<number> {
  // An id is a UUID, of 36 characters.
  return tx.run(sql`DELETE FROM tasks WHERE kind IN ${KINDS} AND substr(key, 1, 36) ${among(tx, ids)}`)
}

/** Deletes the mails of a kind that wait for a user, or for all users, also the one being sent. By (kind, key). */
export async function deleteMailsOfKind(
  tx: Queries,
  mail: MailKind,
  holder: { user_id: string } | { all: true },
): Promise<void> {
  const ofUser = 'all' in holder ? sql`` : sql`AND ${isMailTo(holder.user_id)}`
  await tx.run(sql`DELETE FROM tasks WHERE kind IN ${KINDS} AND detail LIKE ${`%"mail":"${mail}"%`} ${ofUser}`)
}

/** Whether a mail still waits or is being sent: what has ended its reason has deleted it. By (kind, key). */
export async function hasMail(db: Queries, userId: string, mailId: string): Promise<boolean> {
  const key = mailKey(userId, mailId)
  return Boolean(await db.get(sql`SELECT 1 AS found FROM tasks WHERE kind = 'mail.send' AND key = ${key}`))
}

/** By the bounds of the keys of a user's mails: a dot precedes a slash, and an id has neither. */
function isMailTo(userId: string): Sql {
  return sql`key > ${`${userId}.`} AND key < ${`${userId}/`}`
}

/** Up to `limit` mails queued after one, oldest first. By primary key. */
export function listMails(db: Queries, after: string, limit: number): Promise<MailRow[]> {
  const clock = databaseNow(db.dialect)
  return db.all<MailRow>(
    sql`SELECT id, kind, key, due_at, detail, CASE WHEN lease_expires_at >= ${clock} THEN 1 ELSE 0 END AS is_running
       FROM tasks
      WHERE kind IN ${KINDS} AND id > ${after}
      ORDER BY id
      LIMIT ${limit}`,
  )
}

/** Has mails tried at once: one, or all. Those being sent stay as they are. @returns the number */
export function retryMails(tx: Queries, id: string | undefined): Promise<number> {
  const clock = databaseNow(tx.dialect)
  return tx.run(
    sql`UPDATE tasks SET kind = 'mail.send', due_at = ${clock}
      WHERE ${isChosen(clock, id)}`,
  )
}

/** Deletes mails: one, or all. One being sent is left. @returns the number */
export function deleteMails(tx: Queries, id: string | undefined): Promise<number> {
  return tx.run(sql`DELETE FROM tasks WHERE ${isChosen(databaseNow(tx.dialect), id)}`)
}

/** An id is a UUID, so it has no character with a meaning in LIKE. */
function isChosen(clock: Sql, id: string | undefined): Sql {
  const key = id === undefined ? '%' : `%.${id}`
  return sql`kind IN ${KINDS} AND (lease_expires_at IS NULL OR lease_expires_at < ${clock}) AND key LIKE ${key}`
}
