import { toInstant } from '../core/time.ts'
import { SECOND } from '../core/units.ts'
import type { Queries } from '../storage/database.ts'
import { among, databaseNow, type Micros, type Sql, sql } from '../storage/sql.ts'
import type { TaskDetail, TaskKind, TaskRecord } from './schema.ts'

/** A task as it is stored; a taken task is the writer's until its lease expires. */
export interface TaskRow {
  id: string
  kind: TaskKind
  /** Its subject: each kind and key has at most one task. */
  key: string
  due_at: Micros
  attempts: number
  detail: string | null
}

/** A task to add. */
export interface NewTask {
  kind: TaskKind
  key: string
  detail?: TaskDetail
  /** The delay until it is due. Default 0. */
  delay_seconds?: number
}

/** A row as an administrator reads it. */
export function toTaskRecord(row: TaskRow & { is_running: number }): TaskRecord {
  const { id, kind, attempts } = row
  const removed = row.detail === null ? undefined : (JSON.parse(row.detail) as TaskDetail).removed
  return {
    id,
    kind,
    ...(subjectOf(row) && { subject_id: subjectOf(row) }),
    created_at: toInstant(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) * 1000),
    due_at: toInstant(row.due_at),
    running: row.is_running === 1,
    attempts,
    ...(typeof removed === 'number' && { removed }),
  }
}

/** The key of a mail begins with its recipient; an invited person may have no account. Other keys may begin with a user, too. */
function subjectOf({ kind, key, detail }: TaskRow): string | undefined {
  if (kind === 'follows.clear' || kind === 'usage.meter') return key.split('.')[0]
  if (!kind.startsWith('mail.')) return key
  const { mail } = JSON.parse(detail ?? '{}') as TaskDetail
  return mail === 'invite' || mail === 'conversation_invite' ? undefined : key.slice(0, key.indexOf('.'))
}

/**
 * Adds a task. An existing one of the same kind and key restarts under the new id, due at the earlier of the two times;
 * a process that runs the old one has lost its lease.
 */
export async function insertTask(tx: Queries, id: string, task: NewTask): Promise<void> {
  const delay = Math.round((task.delay_seconds ?? 0) * SECOND)
  await tx.run(
    sql`INSERT INTO tasks (id, kind, key, due_at, detail) VALUES (${id}, ${task.kind}, ${task.key},
          ${databaseNow(tx.dialect)} + ${delay}, ${task.detail ? JSON.stringify(task.detail) : null})
     ON CONFLICT (kind, key) DO UPDATE SET
       id = excluded.id, detail = excluded.detail, attempts = 0, writer = NULL, lease_expires_at = NULL,
       due_at = CASE WHEN tasks.due_at < excluded.due_at THEN tasks.due_at ELSE excluded.due_at END`,
  )
}

/** The detail of the task of a kind and key; `undefined` without one. By (kind, key). */
export async function findTaskDetail(db: Queries, kind: TaskKind, key: string): Promise<TaskDetail | undefined> {
  const row = await db.get<{ detail: string | null }>(
    sql`SELECT detail FROM tasks WHERE kind = ${kind} AND key = ${key}`,
  )
  return row && JSON.parse(row.detail ?? '{}')
}

/** The keys of these that have a task of the kind. By (kind, key). */
export async function listKeysWithTask(db: Queries, kind: TaskKind, keys: string[]): Promise<Set<string>> {
  const rows = await db.all<{ key: string }>(sql`SELECT key FROM tasks WHERE kind = ${kind} AND key ${among(db, keys)}`)
  return new Set(rows.map((row) => row.key))
}

const isFree = (clock: Sql) => sql`(lease_expires_at IS NULL OR lease_expires_at < ${clock})`

/** The tasks that a worker takes. */
export interface Queue {
  kinds: readonly TaskKind[]
  /** How far in the future they may be due, in microseconds. */
  ahead: Micros
}

/** Whether a task of the queue is due and free. By due_at. */
export async function hasDueTask(db: Queries, { kinds, ahead }: Queue): Promise<boolean> {
  const clock = databaseNow(db.dialect)
  const row = await db.get(
    sql`SELECT 1 AS found FROM tasks
      WHERE due_at <= ${clock} + ${ahead} AND ${isFree(clock)} AND kind ${among(db, kinds)} ORDER BY due_at LIMIT 1`,
  )
  return row !== undefined
}

/** Takes the task of the queue that has been due the longest, with a lease. */
export function takeTask(
  tx: Queries,
  { writer, lease, kinds, ahead }: Queue & { writer: string; lease: Micros },
): Promise<TaskRow | undefined> {
  const clock = databaseNow(tx.dialect)
  return tx.get<TaskRow>(
    sql`UPDATE tasks SET writer = ${writer}, lease_expires_at = ${clock} + ${lease}
      WHERE id IN (SELECT id FROM tasks WHERE due_at <= ${clock} + ${ahead} AND ${isFree(clock)}
                      AND kind ${among(tx, kinds)}
                    ORDER BY due_at LIMIT 1 ${tx.dialect === 'postgresql' ? sql`FOR UPDATE SKIP LOCKED` : sql``})
     RETURNING id, kind, key, due_at, attempts, detail`,
  )
}

/** Whether a task exists that is due by then, taken or not. By due_at. */
export async function hasTask(db: Queries, ahead: Micros): Promise<boolean> {
  const clock = databaseNow(db.dialect)
  return Boolean(await db.get(sql`SELECT 1 AS found FROM tasks WHERE due_at <= ${clock} + ${ahead} LIMIT 1`))
}

/** @returns false when the writer has lost the task */
export async function renewTask(tx: Queries, id: string, writer: string, lease: Micros): Promise<boolean> {
  const renewed = await tx.run(
    sql`UPDATE tasks SET lease_expires_at = ${databaseNow(tx.dialect)} + ${lease} WHERE id = ${id}
          AND writer = ${writer}`,
  )
  return renewed === 1
}

/** Releases a task, to continue after `delay`, perhaps as another kind. */
export async function releaseTask(
  tx: Queries,
  { id, kind, attempts, detail }: Pick<TaskRow, 'id' | 'kind' | 'attempts' | 'detail'>,
  { writer, delay }: { writer: string; delay: Micros },
): Promise<void> {
  await tx.run(
    sql`UPDATE tasks SET writer = NULL, lease_expires_at = NULL, due_at = ${databaseNow(tx.dialect)} + ${delay},
          kind = ${kind}, attempts = ${attempts},
            detail = ${detail}
      WHERE id = ${id} AND writer = ${writer}`,
  )
}

/** Deletes a finished task, if the writer still holds it. */
export async function deleteTask(tx: Queries, id: string, writer: string): Promise<void> {
  await tx.run(sql`DELETE FROM tasks WHERE id = ${id} AND writer = ${writer}`)
}

/** Up to `limit` tasks after one, in the order of their ids. By primary key. */
export function listTasks(db: Queries, after: string, limit: number): Promise<(TaskRow & { is_running: number })[]> {
  return db.all(
    sql`SELECT id, kind, key, due_at, attempts, detail, CASE WHEN ${isFree(databaseNow(db.dialect))} THEN 0 ELSE 1
          END AS is_running
       FROM tasks
      WHERE id > ${after}
      ORDER BY id
      LIMIT ${limit}`,
  )
}

/** The number of due tasks of each kind, and the age of the oldest. */
export function countDueTasks(db: Queries): Promise<{ kind: TaskKind; due: number; oldest_seconds: number }[]> {
  const clock = databaseNow(db.dialect)
  return db.all(
    sql`SELECT kind, count(*) AS due, max(${clock} - due_at) / 1000000.0 AS oldest_seconds
       FROM tasks WHERE due_at <= ${clock} GROUP BY kind`,
  )
}
