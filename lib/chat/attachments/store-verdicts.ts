import type { Queries } from '../../storage/database.ts'
import { sql } from '../../storage/sql.ts'
import type { BlobRow } from './store-blobs.ts'

export async function markScanned(tx: Queries, id: string): Promise<void> {
  await tx.run(sql`UPDATE attachments SET status = 'ready' WHERE id = ${id}`)
}

/** Refuses a file: it loses its bytes. */
export async function markRefused(tx: Queries, id: string, reason: string | null): Promise<void> {
  await tx.run(sql`UPDATE attachments SET status = 'refused', reason = ${reason}, blob_id = NULL WHERE id = ${id}`)
}

export async function setThumbnail(
  tx: Queries,
  id: string,
  { blob_id, type }: { blob_id: string; type: string },
): Promise<void> {
  await tx.run(sql`UPDATE attachments SET thumbnail_blob_id = ${blob_id}, thumbnail_type = ${type} WHERE id = ${id}`)
}

/** By primary key. */
export function findBlob(db: Queries, id: string): Promise<BlobRow | undefined> {
  return db.get(sql`SELECT id, size, parts FROM blobs WHERE id = ${id}`)
}
