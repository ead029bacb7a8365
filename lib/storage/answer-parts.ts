import { isUnderWay } from '../core/message-status.ts'
import { type PartColumns, type PartRow, partsOfRows, toStoredParts } from '../core/stored-parts.ts'
import type { Queries } from './database.ts'
import { among, type Micros, sql } from './sql.ts'

/** All rows of an answer, in order. By primary key. */
export function listRows(db: Queries, messageId: string): Promise<(PartRow & { created_at: Micros })[]> {
  return db.all(sql`SELECT content, part, created_at FROM message_chunks WHERE message_id = ${messageId} ORDER BY idx`)
}

/** All rows of answers, in order, by message. By primary key. */
export async function listRowsOf(db: Queries, messageIds: readonly string[]): Promise<Map<string, PartRow[]>> {
  const rows = await db.all<PartRow & { message_id: string }>(
    sql`SELECT message_id, content, part FROM message_chunks WHERE message_id ${among(db, messageIds)}
      ORDER BY message_id, idx`,
  )
  const byMessage = new Map<string, PartRow[]>()
  for (const { message_id, ...row } of rows) {
    const known = byMessage.get(message_id)
    if (known) known.push(row)
    else byMessage.set(message_id, [row])
  }
  return byMessage
}

/** The column of the parts of a message; of an answer in progress only whether it has any. */
export const PARTS = sql`CASE WHEN status IN ('streaming', 'waiting')
  THEN (SELECT '[]' FROM message_chunks c WHERE c.message_id = messages.id AND c.part IS NOT NULL LIMIT 1)
  ELSE parts END AS parts`

/** The size of the text and the parts of a message `messages`; parts have the text once more. */
export const CONTENT_SIZE = sql`CASE WHEN status IN ('streaming', 'waiting')
  THEN (SELECT coalesce(sum(octet_length(c.content) + coalesce(octet_length(c.part), 0)), 0) FROM message_chunks c
         WHERE c.message_id = messages.id)
  WHEN parts IS NULL THEN octet_length(content) ELSE octet_length(parts) + 2 * octet_length(content) END`

type Row = PartColumns & { id: string; status: string; content: string; edited_at: number | null }

/** Rows with the parts of answers in progress, which are those of their chunks; without such answers, by no statement. */
export async function withPartsInProgress<T extends Row>(db: Queries, rows: T[]): Promise<T[]> {
  const ids = rows.flatMap(({ id, status, parts }) => (isUnderWay({ status }) && parts ? id : []))
  if (ids.length === 0) return rows
  const chunks = await listRowsOf(db, ids)
  return rows.map((row) => {
    const own = isUnderWay(row) ? chunks.get(row.id) : undefined
    // Text of the same moment: the parts have lengths of it.
    return own
      ? { ...row, content: own.map(({ content }) => content).join(''), parts: toStoredParts(partsOfRows(own)) }
      : row
  })
}

/** The row with all values of its parts. */
export async function withWholeParts<T extends Row>(db: Queries, row: T): Promise<T> {
  const chunks = row.parts ? await listRows(db, row.id) : []
  return chunks.length > 0 ? { ...row, whole_parts: partsOfRows(chunks) } : row
}
