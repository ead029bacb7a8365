import { uniqueKey } from '../../core/characters.ts'
import type { Primitive, Queries, Row } from '../../storage/database.ts'
import { MESSAGE_COUNT, SEEN_COUNT } from '../../storage/schema/0012-unread-totals.ts'
import { PARTICIPANT_COUNT } from '../../storage/schema/0029-participant-counts.ts'
import { databaseNow, IS_OF_HOST, isOneOf, jsonList, type Micros, NEXT_DOC } from '../../storage/sql.ts'

/** A conversation as an import finds it. By primary key. */
export function findPlace(db: Queries, id: string): Promise<{ deleted_at: Micros | null } | undefined> {
  return db.get('SELECT deleted_at FROM conversations WHERE id = ?', id)
}

/** A possible stand-in for a user of an archive. */
export interface StandIn {
  id: string
  username: string
}

/** The person with the host's own id. By (provider, issuer, subject). */
export function findBySubject(db: Queries, subject: string): Promise<StandIn | undefined> {
  return db.get(
    `SELECT u.id, u.username FROM identities i JOIN users u ON u.id = i.user_id WHERE ${IS_OF_HOST} AND i.subject = ?`,
    subject,
  )
}

/** The user of a system actor. By system_name. */
export function findBySystemName(db: Queries, name: string): Promise<StandIn | undefined> {
  return db.get('SELECT id, username FROM users WHERE system_name = ?', name)
}

/** The user whose verified address it is. By email_key. */
export function findByVerifiedEmail(db: Queries, email: string): Promise<StandIn | undefined> {
  return db.get(
    'SELECT id, username FROM users WHERE email_key = ? AND email_verified_at IS NOT NULL',
    uniqueKey(email),
  )
}

/** What is known of the erasure of a user: the audit log has it as long as it is kept. By primary key, and subject_id. */
export async function findErasure(db: Queries, userId: string): Promise<'keep' | 'erase' | undefined> {
  const erasing = await db.get<{ messages: 'keep' | 'erase' }>(
    'SELECT messages FROM erased_authors WHERE user_id = ?',
    userId,
  )
  if (erasing) return erasing.messages
  const row = await db.get<{ detail: string | null }>(
    "SELECT detail FROM audit_log WHERE act = 'user.erased' AND subject_id = ? ORDER BY id DESC LIMIT 1",
    userId,
  )
  return row && (JSON.parse(row.detail ?? '{}') as { messages?: string }).messages === 'erase' ? 'erase' : row && 'keep'
}

/**
 * A conversation that is not visible yet, as one that is being removed: what an import that ends in between has stored is
 * removed by the task of this conversation.
 */
export async function insertHidden(tx: Queries, { id, is_group, created_at, clock, last_seq }: Row, at: Micros) {
  await tx.run(
    `INSERT INTO conversations (id, title, is_group, created_at, clock, last_seq, deleted_at) VALUES (?, '', ?, ?, ?, ?, ?)`,
    id!,
    is_group!,
    created_at!,
    clock!,
    last_seq!,
    at,
  )
}

const OF_REMOVAL = "kind = 'conversation.remove' AND key = ? AND writer IS NULL"

/** Postpones the removal of an import that continues. @returns false when it has begun */
export async function postponeRemoval(tx: Queries, id: string, delay: Micros): Promise<boolean> {
  return (await tx.run(`UPDATE tasks SET due_at = ${databaseNow(tx.dialect)} + ? WHERE ${OF_REMOVAL}`, delay, id)) === 1
}

/** @returns false when the removal has begun */
export async function cancelRemoval(tx: Queries, id: string): Promise<boolean> {
  return (await tx.run(`DELETE FROM tasks WHERE ${OF_REMOVAL}`, id)) === 1
}

/** Adds a row. It fails on a key that another row has. */
export async function insertRow(tx: Queries, table: string, row: Row): Promise<void> {
  const names = Object.keys(row)
  // PostgreSQL numbers messages by itself.
  const isNumbered = table === 'messages' && tx.dialect === 'sqlite'
  const columns = isNumbered ? [...names, 'doc'] : names
  const values = [...names.map(() => '?'), ...(isNumbered ? [NEXT_DOC] : [])]
  await tx.run(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${values.join(', ')})`,
    ...(Object.values(row) as Primitive[]),
  )
}

/** Shows the conversation with these columns. */
export async function show(tx: Queries, id: string, columns: Row): Promise<void> {
  const set = Object.keys(columns).map((name) => `${name} = ?`)
  await tx.run(
    `UPDATE conversations SET deleted_at = NULL, ${set.join(', ')} WHERE id = ?`,
    ...(Object.values(columns) as Primitive[]),
    id,
  )
}

/** Up to `limit` threads of a conversation after one, by their last activity. */
export function listThreads(db: Queries, id: string, after: Micros, limit: number) {
  return db.all<{ root_id: string; last_activity_at: Micros; messages: number }>(
    `SELECT root_id, last_activity_at, message_count AS messages FROM threads
      WHERE conversation_id = ? AND last_activity_at > ? ORDER BY last_activity_at LIMIT ?`,
    id,
    after,
    limit,
  )
}

/** Counts what threads have, from their messages. */
export async function recountThreads(tx: Queries, rootIds: string[]): Promise<void> {
  const these = isOneOf(tx.dialect)
  const ids = jsonList(rootIds)
  await tx.run(
    `INSERT INTO thread_members (root_id, user_id, live_count)
     SELECT root_id, coalesce(posted_by, ''), count(*) FROM messages
      WHERE root_id ${these} AND deleted_at IS NULL GROUP BY root_id, coalesce(posted_by, '')
     ON CONFLICT (root_id, user_id) DO UPDATE SET live_count = excluded.live_count`,
    ids,
  )
  await tx.run(
    `UPDATE thread_members AS r SET read_count = (SELECT count(*) FROM messages m
        WHERE m.root_id = r.root_id AND m.deleted_at IS NULL AND coalesce(m.posted_by, '') <> r.user_id
          AND m.created_at <= r.read_at)
      WHERE r.read_at > 0 AND r.root_id ${these}`,
    ids,
  )
  await tx.run(
    `UPDATE threads SET
       message_count = (SELECT count(*) FROM messages m WHERE m.root_id = threads.root_id AND m.deleted_at IS NULL),
       participant_count = (SELECT count(*) FROM thread_members r WHERE r.root_id = threads.root_id AND r.live_count > 0)
      WHERE root_id ${these}`,
    ids,
  )
}

/** Counts what a conversation and its participants have, from its threads. */
export async function recountConversation(tx: Queries, id: string): Promise<void> {
  await tx.run(
    `UPDATE conversations SET message_count = ${MESSAGE_COUNT}, participant_count = ${PARTICIPANT_COUNT} WHERE id = ?`,
    id,
  )
  await tx.run(
    `UPDATE participants AS p SET seen_count = ${SEEN_COUNT}, unread_mentions = 0 WHERE p.conversation_id = ?`,
    id,
  )
}

/** The participants of a conversation with their roles. */
export function listRoles(db: Queries, id: string) {
  return db.all<{ user_id: string; role: string }>(
    'SELECT user_id, role FROM participants WHERE conversation_id = ?',
    id,
  )
}
