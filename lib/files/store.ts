import type { Queries } from '../storage/database.ts'
import { HAS_OWN_PHOTO } from '../storage/own-photos.ts'
import { among, sql } from '../storage/sql.ts'

/** Bytes in the storage of files. */
export interface StoredBlob {
  id: string
  size: number
  parts: number
  /** The number of files of messages, and of uploads that no message has yet, whose bytes it is. */
  files: number
}

const STORED_COLUMNS = sql`id, size, parts, (SELECT count(*) FROM attachments f
  WHERE f.blob_id = blobs.id AND f.status IN ('scanning', 'ready')) AS files`

/** Up to `limit` blobs after an id, also those that are being uploaded or were released. By primary key. */
export function listBlobs(db: Queries, after: string, limit: number): Promise<StoredBlob[]> {
  return db.all(sql`SELECT ${STORED_COLUMNS} FROM blobs WHERE id > ${after} ORDER BY id LIMIT ${limit}`)
}

/** The blobs among these that are stored. By primary key. */
export function listStoredBlobs(db: Queries, ids: readonly string[]): Promise<StoredBlob[]> {
  return db.all(sql`SELECT ${STORED_COLUMNS} FROM blobs WHERE id ${among(db, ids)} ORDER BY id`)
}

/** Up to `limit` files whose bytes a blob is. By (blob_id). */
export async function listFilesWithBlob(db: Queries, blobId: string, limit: number): Promise<string[]> {
  const rows = await db.all<{ id: string }>(
    sql`SELECT id FROM attachments WHERE blob_id = ${blobId} AND status IN ('scanning', 'ready') ORDER BY id
          LIMIT ${limit}`,
  )
  return rows.map(({ id }) => id)
}

/** The ids among these that are blobs. By primary key. */
export async function listKnown(db: Queries, ids: Iterable<string>): Promise<Set<string>> {
  const rows = await db.all<{ id: string }>(sql`SELECT id FROM blobs WHERE id ${among(db, ids)}`)
  return new Set(rows.map(({ id }) => id))
}

/** The storage that a database has its files in, if it has marked one, and the id of the database itself. */
export interface PlaceIds {
  storage: string | undefined
  database: string
}

/**
 * What names this database: its history of events, which a restored one does not share, and on PostgreSQL also its number
 * at the server, as a copy by other means has the same history.
 */
export async function findPlaceIds(db: Queries): Promise<PlaceIds> {
  const number =
    db.dialect === 'postgresql'
      ? sql`|| ' ' || (SELECT oid FROM pg_database
           WHERE datname = current_database())`
      : sql``
  const row = await db.get<{ storage: string | null; database: string }>(
    sql`SELECT (SELECT value FROM meta WHERE name = 'storage') AS storage,
            (SELECT value FROM meta WHERE name = 'epoch') ${number} AS database`,
  )
  return { storage: row!.storage ?? undefined, database: row!.database }
}

/** Notes the storage. @param before only if this one is noted still; `undefined`: only if none is */
export async function replaceStorage(tx: Queries, storage: string, before: string | undefined): Promise<void> {
  if (before === undefined)
    await tx.run(sql`INSERT INTO meta (name, value) VALUES ('storage', ${storage}) ON CONFLICT (name) DO NOTHING`)
  else await tx.run(sql`UPDATE meta SET value = ${storage} WHERE name = 'storage' AND value = ${before}`)
}

/** Whether rows that are not released name bytes. By `live_blobs`, `uploads_under_way`, and the index of own photos. */
export async function namesBytes(db: Queries): Promise<boolean> {
  const row = await db.get<{ found: number }>(
    sql`SELECT CASE WHEN EXISTS (SELECT 1 FROM blobs WHERE released_at IS NULL AND digest IS NOT NULL)
                   OR EXISTS (SELECT 1 FROM users u WHERE ${HAS_OWN_PHOTO})
                   OR EXISTS (SELECT 1 FROM attachments a JOIN attachment_parts p ON p.attachment_id = a.id
                               WHERE a.status = 'uploading' AND p.stored = 1) THEN 1 ELSE 0 END AS found`,
  )
  return row!.found === 1
}

/** The keys of a part of each of the newest rows that name bytes, newest first. By primary key, and `uploads_under_way`. */
export async function listNewest(db: Queries, limit: number): Promise<string[]> {
  const whole = await db.all<{ id: string }>(
    sql`SELECT id FROM blobs WHERE released_at IS NULL AND digest IS NOT NULL ORDER BY id DESC LIMIT ${limit}`,
  )
  const parts = await db.all<{ id: string; n: number }>(
    sql`SELECT a.blob_id AS id, min(p.n) AS n FROM attachments a JOIN attachment_parts p ON p.attachment_id = a.id
      WHERE a.status = 'uploading' AND p.stored = 1 GROUP BY a.blob_id ORDER BY a.blob_id DESC LIMIT ${limit}`,
  )
  const all = [...whole.map(({ id }) => ({ id, n: 1 })), ...parts].sort((a, b) => (a.id < b.id ? 1 : -1))
  return all.slice(0, limit).map(({ id, n }) => `${id}/${n}`)
}

/** The number of files that have their bytes, as the check of files counts them. */
export async function countFilesWithBytes(db: Queries): Promise<number> {
  const row = await db.get<{ total: number }>(
    sql`SELECT count(*) AS total FROM attachments a JOIN blobs b ON b.id = a.blob_id
      WHERE a.status IN ('scanning', 'ready') AND b.released_at IS NULL`,
  )
  return Number(row!.total)
}
