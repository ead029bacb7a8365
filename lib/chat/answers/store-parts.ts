import type { PartRow } from '../../core/stored-parts.ts'
import type { Queries } from '../../storage/database.ts'
import { among, isErasedAuthor, join, type Micros, sql } from '../../storage/sql.ts'
import { type ChunkPlace, toDelta } from './rules.ts'
import { toPartEvent } from './rules-parts.ts'
import type { MessageDelta, MessagePart } from './schema.ts'
import type { PartChange } from './schema-parts.ts'
import type { ChunkSize } from './store.ts'

/** A chunk of an answer that is no text, or a text with data of its provider. */
export interface PartChunk extends PartRow {
  message_id: string
  idx: number
  provider_data: string | null
  created_at: Micros
}

/** The chunks of an answer that are parts, in order. By primary key. */
export async function listPartChanges(db: Queries, messageId: string): Promise<PartChange[]> {
  const rows = await db.all<{ part: string }>(
    sql`SELECT part FROM message_chunks WHERE message_id = ${messageId} AND part IS NOT NULL ORDER BY idx`,
  )
  return rows.map(({ part }) => JSON.parse(part) as PartChange)
}

export async function insertPart(tx: Queries, row: PartChunk): Promise<void> {
  await tx.run(
    sql`INSERT INTO message_chunks (message_id, idx, content, part, provider_data, created_at)
          VALUES (${row.message_id}, ${row.idx}, ${row.content}, ${row.part}, ${row.provider_data}, ${row.created_at})`,
  )
}

/** A row of an answer with what its provider keeps with it. */
export type GivenRow = PartRow & Pick<PartChunk, 'provider_data'>

/** All rows of an answer with what its provider keeps with them, in order. By primary key. */
export function listGivenRows(db: Queries, messageId: string): Promise<GivenRow[]> {
  return db.all(
    sql`SELECT content, part, provider_data FROM message_chunks WHERE message_id = ${messageId} ORDER BY idx`,
  )
}

/** All rows of answers with what their provider keeps with them, in order, by message. By primary key. */
export async function listGivenRowsOf(db: Queries, messageIds: readonly string[]): Promise<Map<string, GivenRow[]>> {
  const rows = await db.all<GivenRow & { message_id: string }>(
    sql`SELECT message_id, content, part, provider_data FROM message_chunks WHERE message_id ${among(db, messageIds)}
      ORDER BY message_id, idx`,
  )
  const byMessage = new Map<string, GivenRow[]>(messageIds.map((id) => [id, []]))
  for (const { message_id, ...row } of rows) byMessage.get(message_id)!.push(row)
  return byMessage
}

/** Stores the parts of an answer with its message. */
export async function setParts(tx: Queries, messageId: string, parts: string): Promise<void> {
  await tx.run(sql`UPDATE messages SET parts = ${parts} WHERE id = ${messageId}`)
}

/** A range of chunks of a message. */
export interface ChunkRange {
  message_id: string
  first: number
  last: number
}

/** Whether a chunk `c` is in one of these ranges. */
const isInRanges = (ranges: ChunkRange[]) =>
  join(
    ranges.map(
      ({ message_id, first, last }) => sql`(c.message_id = ${message_id} AND c.idx BETWEEN ${first}
           AND ${last})`,
    ),
    ' OR ',
  )

/** The size in bytes of the chunks in these ranges. By primary keys. */
export function listDeltaSizes(db: Queries, ranges: ChunkRange[]): Promise<ChunkSize[]> {
  return db.all<ChunkSize>(
    sql`SELECT c.message_id, c.idx, octet_length(c.content) + coalesce(octet_length(c.part), 0) AS size
       FROM message_chunks c WHERE ${isInRanges(ranges)}`,
  )
}

/** A chunk as its event has it, by the id of a delta. */
export type ChunkEvent = { id: string } & (
  | { type: 'message.delta'; payload: MessageDelta }
  | { type: 'message.part'; payload: MessagePart }
)

/** The chunks in these ranges as their events; those of a deleted message have no text and no values. By primary keys. */
export async function listChunkEvents(db: Queries, ranges: ChunkRange[]): Promise<ChunkEvent[]> {
  const rows = await db.all<ChunkPlace & PartRow & { is_gone: number }>(
    sql`SELECT c.message_id, c.idx, m.conversation_id, m.root_id, m.parent_id, m.depth, c.content, c.part,
            CASE WHEN m.deleted_at IS NULL AND NOT ${isErasedAuthor(sql`m.posted_by`)} THEN 0 ELSE 1 END AS is_gone
       FROM message_chunks c JOIN messages m ON m.id = c.message_id
      WHERE ${isInRanges(ranges)}`,
  )
  return rows.map(({ content, part, is_gone, ...place }): ChunkEvent => {
    const isGone = is_gone === 1
    if (part === null) {
      const payload = toDelta(place, isGone ? '' : content)
      return { id: payload.id, type: 'message.delta', payload }
    }
    const payload = toPartEvent(place, JSON.parse(part) as PartChange, isGone)
    return { id: `${place.message_id}:${place.idx}`, type: 'message.part', payload }
  })
}
