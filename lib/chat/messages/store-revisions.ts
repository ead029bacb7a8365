import { toInstant } from '../../core/time.ts'
import type { Queries } from '../../storage/database.ts'
import { type Micros, sql } from '../../storage/sql.ts'
import type { Revision } from './schema-revisions.ts'

/** Replaces the text of a message, and stores the previous text as a revision; deletes all but the latest `keep`. */
export async function replaceContent(
  tx: Queries,
  id: string,
  { content, reason, at, keep }: { content: string; reason: string | null; at: Micros; keep: number },
): Promise<void> {
  await tx.run(
    sql`INSERT INTO message_revisions (message_id, replaced_at, content, reason)
     SELECT id, CAST(${at} AS BIGINT), content, CAST(${reason} AS TEXT) FROM messages WHERE id = ${id}`,
  )
  await tx.run(
    sql`DELETE FROM message_revisions WHERE message_id = ${id} AND replaced_at <= (
       SELECT replaced_at FROM message_revisions WHERE message_id = ${id} ORDER BY replaced_at DESC
       LIMIT 1 OFFSET ${keep})`,
  )
  await tx.run(sql`UPDATE messages SET content = ${content}, parts = NULL, edited_at = ${at} WHERE id = ${id}`)
}

/** Up to `limit` revisions after an instant: when each was replaced, and its size in bytes. By primary key. */
export function listRevisionSizes(
  db: Queries,
  id: string,
  after: Micros,
  limit: number,
): Promise<{ replaced_at: Micros; size: number }[]> {
  return db.all(
    sql`SELECT replaced_at, octet_length(content) AS size FROM message_revisions
      WHERE message_id = ${id} AND replaced_at > ${after}
      ORDER BY replaced_at
      LIMIT ${limit}`,
  )
}

/** The revisions that were replaced after one instant, up to another, oldest first. By primary key. */
export async function listRevisions(db: Queries, id: string, after: Micros, upTo: Micros): Promise<Revision[]> {
  const rows = await db.all<{ content: string; replaced_at: Micros; reason: string | null }>(
    sql`SELECT content, replaced_at, reason FROM message_revisions
      WHERE message_id = ${id} AND replaced_at > ${after} AND replaced_at <= ${upTo}
      ORDER BY replaced_at`,
  )
  return rows.map(({ content, replaced_at, reason }) => ({
    content,
    replaced_at: toInstant(replaced_at),
    ...(reason !== null && { reason }),
  }))
}
