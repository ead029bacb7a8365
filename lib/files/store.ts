import type { Queries } from '../storage/database.ts'
import { isOneOf, jsonList } from '../storage/sql.ts'

/** Bytes in the storage of files. */
export interface StoredBlob {
  id: string
  size: number
  parts: number
  /** Whether all of its parts were stored. */
  is_whole: number
}

/** Up to `limit` blobs after an id, also those that are being uploaded or were released. By primary key. */
export function listBlobs(db: Queries, after: string, limit: number): Promise<StoredBlob[]> {
  return db.all(
    `SELECT id, size, parts, CASE WHEN digest IS NULL THEN 0 ELSE 1 END AS is_whole FROM blobs
      WHERE id > ? ORDER BY id LIMIT ?`,
    after,
    limit,
  )
}

/** Those of these ids that are blobs. By primary key. */
export async function listKnown(db: Queries, ids: Iterable<string>): Promise<Set<string>> {
  const rows = await db.all<{ id: string }>(`SELECT id FROM blobs WHERE id ${isOneOf(db.dialect)}`, jsonList(ids))
  return new Set(rows.map(({ id }) => id))
}
