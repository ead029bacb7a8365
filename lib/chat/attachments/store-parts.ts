import type { Queries } from '../../storage/database.ts'
import { type Micros, sql } from '../../storage/sql.ts'

/** A part of an upload. */
export interface PartRow {
  n: number
  /** The SHA-256 of its bytes as they are stored, in base64url. */
  digest: string
  /** 1 once its bytes are durable. */
  stored: number
}

/** By primary key. */
export function findPart(db: Queries, attachmentId: string, n: number): Promise<PartRow | undefined> {
  return db.get(sql`SELECT n, digest, stored FROM attachment_parts WHERE attachment_id = ${attachmentId} AND n = ${n}`)
}

/**
 * Notes which bytes a part has, before they are stored: of two different ones at once, one is refused before it could
 * replace the other. A part that is noted keeps its digest.
 *
 * @returns the part; `undefined` if the upload has ended
 */
export async function notePart(
  tx: Queries,
  attachmentId: string,
  { n, digest }: { n: number; digest: string },
  now: Micros,
): Promise<PartRow | undefined> {
  await tx.run(
    sql`INSERT INTO attachment_parts (attachment_id, n, digest, stored)
     SELECT id, CAST(${n} AS BIGINT), CAST(${digest} AS TEXT), 0 FROM attachments WHERE id = ${attachmentId}
         AND status = 'uploading' AND expires_at > ${now}
     ON CONFLICT (attachment_id, n) DO NOTHING`,
  )
  return findPart(tx, attachmentId, n)
}

/** Notes that the bytes of a part are durable. */
export async function markStored(tx: Queries, attachmentId: string, n: number): Promise<void> {
  await tx.run(sql`UPDATE attachment_parts SET stored = 1 WHERE attachment_id = ${attachmentId} AND n = ${n}`)
}

/** The stored parts of an upload, in order. By primary key. */
export function listStored(db: Queries, attachmentId: string): Promise<PartRow[]> {
  return db.all(
    sql`SELECT n, digest, stored FROM attachment_parts WHERE attachment_id = ${attachmentId} AND stored = 1 ORDER BY n`,
  )
}

/** The number of stored parts. By primary key. */
export async function countStored(db: Queries, attachmentId: string): Promise<number> {
  const row = await db.get<{ count: number }>(
    sql`SELECT count(*) AS count FROM attachment_parts WHERE attachment_id = ${attachmentId} AND stored = 1`,
  )
  return Number(row!.count)
}
