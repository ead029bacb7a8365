import { uniqueKey } from '../../core/characters.ts'
import type { Queries, Row } from '../../storage/database.ts'
import { MESSAGE_COUNT } from '../../storage/schema/0012-unread-totals.ts'
import { PARTICIPANT_COUNT } from '../../storage/schema/0029-participant-counts.ts'
import { FILL_FORMER } from '../../storage/schema/0052-names.ts'
import {
  among,
  assignments,
  databaseNow,
  IS_OF_HOST,
  join,
  type Micros,
  NEXT_DOC,
  name,
  sql,
} from '../../storage/sql.ts'
import { FOLLOWED_THREADS, FOLLOWED_UNREAD, ROOT_COUNT, SEEN_COUNT, SEEN_ROOTS } from '../../storage/unread-set.ts'
import { FOREIGN_VARIANT } from '../../storage/variants.ts'

/** A conversation as an import finds it. By primary key. */
export function findPlace(db: Queries, id: string): Promise<{ deleted_at: Micros | null } | undefined> {
  return db.get(sql`SELECT deleted_at FROM conversations WHERE id = ${id}`)
}

/** A possible stand-in for a user of an archive. */
export interface StandIn {
  id: string
  username: string
}

/** The person with the host's own id. By (provider, issuer, subject). */
export function findBySubject(db: Queries, subject: string): Promise<StandIn | undefined> {
  return db.get(
    sql`SELECT u.id, u.username FROM identities i JOIN users u ON u.id = i.user_id WHERE ${IS_OF_HOST}
          AND i.subject = ${subject}`,
  )
}

/** The user of a system actor. By system_name. */
export function findBySystemName(db: Queries, name: string): Promise<StandIn | undefined> {
  return db.get(sql`SELECT id, username FROM users WHERE system_name = ${name}`)
}

/** The user whose verified address it is. By email_key. */
export function findByVerifiedEmail(db: Queries, email: string): Promise<StandIn | undefined> {
  return db.get(
    sql`SELECT id, username FROM users WHERE email_key = ${uniqueKey(email)} AND email_verified_at IS NOT NULL`,
  )
}

/** What is known of the erasure of a user: the audit log has it as long as it is kept. By primary key, and subject_id. */
export async function findErasure(db: Queries, userId: string): Promise<'keep' | 'erase' | undefined> {
  const erasing = await db.get<{ messages: 'keep' | 'erase' }>(
    sql`SELECT messages FROM erased_authors WHERE user_id = ${userId}`,
  )
  if (erasing) return erasing.messages
  const row = await db.get<{ detail: string | null }>(
    sql`SELECT detail FROM audit_log WHERE act = 'user.erased' AND subject_id = ${userId} ORDER BY id DESC LIMIT 1`,
  )
  return row && (JSON.parse(row.detail ?? '{}') as { messages?: string }).messages === 'erase' ? 'erase' : row && 'keep'
}

/**
 * A conversation that is not visible yet, as one that is being removed: what an import that ends in between has stored is
 * removed by the task of this conversation.
 */
export async function insertHidden(tx: Queries, { id, is_group, created_at, clock, last_seq }: Row, at: Micros) {
  await tx.run(
    sql`INSERT INTO conversations (id, title, is_group, created_at, clock, last_seq, deleted_at)
          VALUES (${id!}, '', ${is_group!}, ${created_at!}, ${clock!}, ${last_seq!}, ${at})`,
  )
}

const isItsRemoval = (id: string) => sql`kind = 'conversation.remove' AND key = ${id} AND writer IS NULL`

/** Postpones the removal of an import that continues. @returns false when it has begun */
export async function postponeRemoval(tx: Queries, id: string, delay: Micros): Promise<boolean> {
  const due = sql`${databaseNow(tx.dialect)} + ${delay}`
  return (await tx.run(sql`UPDATE tasks SET due_at = ${due} WHERE ${isItsRemoval(id)}`)) === 1
}

/** @returns false when the removal has begun */
export async function cancelRemoval(tx: Queries, id: string): Promise<boolean> {
  return (await tx.run(sql`DELETE FROM tasks WHERE ${isItsRemoval(id)}`)) === 1
}

/** Adds a row. It fails on a key that another row has. */
export async function insertRow(tx: Queries, table: string, row: Row): Promise<void> {
  // PostgreSQL numbers messages by itself.
  const isNumbered = table === 'messages' && tx.dialect === 'sqlite'
  const columns = [...Object.keys(row).map(name), ...(isNumbered ? [sql`doc`] : [])]
  const values = [...Object.values(row).map((value) => sql`${value}`), ...(isNumbered ? [NEXT_DOC] : [])]
  await tx.run(sql`INSERT INTO ${name(table)} (${join(columns, ', ')}) VALUES (${join(values, ', ')})`)
}

/** Shows the conversation with these columns. */
export async function show(tx: Queries, id: string, columns: Row): Promise<void> {
  await tx.run(sql`UPDATE conversations SET deleted_at = NULL, ${assignments(columns)} WHERE id = ${id}`)
}

/** Up to `limit` threads of a conversation after one, by their last activity. */
export function listThreads(db: Queries, id: string, after: Micros, limit: number) {
  return db.all<{ root_id: string; last_activity_at: Micros; messages: number }>(
    sql`SELECT root_id, last_activity_at, message_count AS messages FROM threads
      WHERE conversation_id = ${id} AND last_activity_at > ${after} ORDER BY last_activity_at LIMIT ${limit}`,
  )
}

/** Counts what threads have, from their messages. */
export async function recountThreads(tx: Queries, rootIds: string[]): Promise<void> {
  await tx.run(
    sql`INSERT INTO thread_members (root_id, user_id, live_count)
     SELECT root_id, coalesce(posted_by, ''), count(*) FROM messages
      WHERE root_id ${among(tx, rootIds)} AND deleted_at IS NULL GROUP BY root_id, coalesce(posted_by, '')
     ON CONFLICT (root_id, user_id) DO UPDATE SET live_count = excluded.live_count`,
  )
  await tx.run(
    sql`UPDATE thread_members AS r SET read_count = (SELECT count(*) FROM messages m
        WHERE m.root_id = r.root_id AND m.deleted_at IS NULL AND coalesce(m.posted_by, '') <> r.user_id
          AND m.created_at <= r.read_at)
      WHERE r.read_at > 0 AND r.root_id ${among(tx, rootIds)}`,
  )
  await tx.run(
    sql`UPDATE threads SET
       message_count = (SELECT count(*) FROM messages m WHERE m.root_id = threads.root_id AND m.deleted_at IS NULL),
       participant_count = (SELECT count(*) FROM thread_members r WHERE r.root_id = threads.root_id
       AND r.live_count > 0)
      WHERE root_id ${among(tx, rootIds)}`,
  )
}

/** Removes the quotes in threads of messages that their conversation does not have. */
export async function removeForeignQuotes(tx: Queries, rootIds: string[]): Promise<void> {
  await tx.run(
    sql`UPDATE messages SET quote_id = NULL
      WHERE root_id ${among(tx, rootIds)} AND quote_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM messages q
        WHERE q.id = messages.quote_id AND q.conversation_id = messages.conversation_id)`,
  )
}

/** Makes answers in threads, and roots, no variants of what is not the first answer in their place. */
export async function removeForeignVariants(tx: Queries, rootIds: string[]): Promise<void> {
  await tx.run(
    sql`UPDATE messages AS m SET variant_of = NULL WHERE m.root_id ${among(tx, rootIds)} AND ${FOREIGN_VARIANT}`,
  )
}

/** Removes the titles of threads whose roots were erased with their author. */
export async function removeErasedTitles(tx: Queries, rootIds: string[]): Promise<void> {
  await tx.run(
    sql`UPDATE threads SET title = NULL
      WHERE root_id ${among(tx, rootIds)} AND title IS NOT NULL AND EXISTS (SELECT 1 FROM messages m
        WHERE m.id = threads.root_id AND m.deleted_at IS NOT NULL AND m.posted_by IS NULL AND m.content = '')`,
  )
}

/** Counts what a conversation and its participants have, from its threads. */
export async function recountConversation(tx: Queries, id: string): Promise<void> {
  await tx.run(
    sql`UPDATE conversations SET message_count = ${MESSAGE_COUNT}, participant_count = ${PARTICIPANT_COUNT},
            root_count = ${ROOT_COUNT}, counted_seq = last_seq
          WHERE id = ${id}`,
  )
  await tx.run(sql`${FILL_FORMER} AND t.conversation_id = ${id}`)
  await tx.run(
    sql`UPDATE participants AS p SET seen_count = ${SEEN_COUNT}, seen_roots = ${SEEN_ROOTS},
            seen_replies = ${SEEN_COUNT} - ${SEEN_ROOTS}, followed_unread = ${FOLLOWED_UNREAD},
            followed_threads = ${FOLLOWED_THREADS}, unread_mentions = 0 WHERE p.conversation_id = ${id}`,
  )
}

/** The participants of a conversation with their roles. */
export function listRoles(db: Queries, id: string) {
  return db.all<{ user_id: string; role: string }>(
    sql`SELECT user_id, role FROM participants WHERE conversation_id = ${id}`,
  )
}
