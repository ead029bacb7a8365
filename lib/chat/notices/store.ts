import type { Cutoff } from '../../core/clock.ts'
import { toInstant } from '../../core/time.ts'
import type { Queries } from '../../storage/database.ts'
import { among, type Micros, type Sql, sql } from '../../storage/sql.ts'
import type { Notice } from './schema.ts'

/** A notice as it is stored. */
export interface NoticeRow {
  id: string
  conversation_id: string
  user_id: string
  author_user_id: string
  root_id: string | null
  invoked_by: string | null
  invoked_name: string | null
  content: string
  created_at: Micros
  expires_at: Micros
}

/** A row as its reader reads it. */
export function toNotice(row: NoticeRow): Notice {
  return {
    id: row.id,
    conversation_id: row.conversation_id,
    user_id: row.user_id,
    author_user_id: row.author_user_id,
    content: row.content,
    ...(row.root_id && { root_id: row.root_id }),
    ...(row.invoked_by && { invocation: { user_id: row.invoked_by, name: row.invoked_name! } }),
    created_at: toInstant(row.created_at),
    expires_at: toInstant(row.expires_at),
  }
}

const COLUMNS = sql`n.id, n.conversation_id, n.user_id, n.author_user_id, n.root_id, n.invoked_by, n.invoked_name, n.content,
  n.created_at, n.expires_at`

/** The notices `n` that have not expired, whose author is not erased, and whose thread is not deleted. */
const live = (now: Micros): Sql =>
  sql`n.expires_at > ${now}
    AND NOT EXISTS (SELECT 1 FROM erased_authors gone WHERE gone.user_id = n.author_user_id)
    AND NOT EXISTS (SELECT 1 FROM messages root WHERE root.id = n.root_id AND root.deleted_at IS NOT NULL)`

/** The live notices of a reader in a conversation, oldest first. By (user_id, conversation_id, id). */
export function listNotices(
  db: Queries,
  { user_id, conversation_id }: Pick<NoticeRow, 'user_id' | 'conversation_id'>,
  now: Micros,
): Promise<NoticeRow[]> {
  return db.all<NoticeRow>(
    sql`SELECT ${COLUMNS} FROM notices n
      WHERE n.user_id = ${user_id} AND n.conversation_id = ${conversation_id} AND ${live(now)} ORDER BY n.id`,
  )
}

/** The live ones among these notices. By primary keys. */
export function listNoticesById(db: Queries, ids: Iterable<string>, now: Micros): Promise<NoticeRow[]> {
  return db.all<NoticeRow>(sql`SELECT ${COLUMNS} FROM notices n WHERE n.id ${among(db, ids)} AND ${live(now)}`)
}

export async function insertNotice(tx: Queries, row: NoticeRow): Promise<void> {
  await tx.run(
    sql`INSERT INTO notices (id, conversation_id, user_id, author_user_id, root_id, invoked_by, invoked_name, content,
          created_at, expires_at)
          VALUES (${row.id}, ${row.conversation_id}, ${row.user_id}, ${row.author_user_id}, ${row.root_id},
                  ${row.invoked_by}, ${row.invoked_name},
                  ${row.content}, ${row.created_at}, ${row.expires_at})`,
  )
}

/** What an event about the end of a notice names. */
export type EndedNotice = Pick<NoticeRow, 'id' | 'conversation_id' | 'user_id'>

/** By primary key. @returns the notice, unless it was deleted before */
export function deleteNotice(tx: Queries, id: string): Promise<EndedNotice | undefined> {
  return tx.get<EndedNotice>(sql`DELETE FROM notices WHERE id = ${id} RETURNING id, conversation_id, user_id`)
}

/** Deletes the oldest notices of a reader in a conversation but for the newest `kept`. By (user_id, conversation_id, id). */
export function deleteOldestNotices(
  tx: Queries,
  { user_id, conversation_id }: Pick<NoticeRow, 'user_id' | 'conversation_id'>,
  kept: number,
): Promise<EndedNotice[]> {
  // SQLite takes an OFFSET only behind a LIMIT.
  const rest = tx.dialect === 'sqlite' ? sql`LIMIT -1 OFFSET ${kept}` : sql`OFFSET ${kept}`
  return tx.all<EndedNotice>(
    sql`DELETE FROM notices WHERE id IN (
          SELECT id FROM notices WHERE user_id = ${user_id} AND conversation_id = ${conversation_id}
           ORDER BY id DESC ${rest}) RETURNING id, conversation_id, user_id`,
  )
}

/** Deletes up to `limit` notices of an author. By author_user_id. */
export function deleteNoticesBy(tx: Queries, authorId: string, limit: number): Promise<EndedNotice[]> {
  return tx.all<EndedNotice>(
    sql`DELETE FROM notices WHERE id IN (SELECT id FROM notices WHERE author_user_id = ${authorId} LIMIT ${limit})
          RETURNING id, conversation_id, user_id`,
  )
}

/** Deletes up to `limit` notices that expired before an instant. By expires_at. @returns the number deleted */
export function deleteExpiredNotices(tx: Queries, before: Cutoff, limit: number): Promise<number> {
  return tx.run(
    sql`DELETE FROM notices WHERE id IN (
          SELECT id FROM notices WHERE expires_at < ${before} ORDER BY expires_at LIMIT ${limit})`,
  )
}
