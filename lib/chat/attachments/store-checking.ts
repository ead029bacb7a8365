import type { Queries } from '../../storage/database.ts'
import { HAS_OWN_PHOTO, IS_PHOTO, OWN_PHOTOS } from '../../storage/own-photos.ts'
import { among, type Micros, sql } from '../../storage/sql.ts'

/** Bytes that are stored as a whole, and that an attachment has, or a user as photo. */
export interface WholeBlob {
  id: string
  size: number
  parts: number
  /** The SHA-256 of the SHA-256s of its parts; a thumbnail and a photo have none. */
  digest: string | null
  /** The number of attachments that have it as their file. */
  files: number
}

const HAS_BYTES = sql`status IN ('scanning', 'ready')`

/** Up to `limit` blobs that are whole, after an id. By primary key. */
export function listWhole(db: Queries, after: string, limit: number): Promise<WholeBlob[]> {
  return db.all(
    sql`SELECT id, size, parts, digest, (SELECT count(*) FROM attachments f WHERE f.blob_id = blobs.id
          AND f.${HAS_BYTES}) AS files
       FROM blobs
      WHERE id > ${after} AND released_at IS NULL
        AND (digest IS NOT NULL OR EXISTS (SELECT 1 FROM attachments t WHERE t.thumbnail_blob_id = blobs.id) OR ${IS_PHOTO})
      ORDER BY id LIMIT ${limit}`,
  )
}

/** A stored part of an upload in progress. */
export interface UnderWay {
  attachment_id: string
  n: number
  blob_id: string
  digest: string
}

/** Up to `limit` such parts, after one. By primary key. */
export function listUnderWay(
  db: Queries,
  after: { attachment_id: string; n: number },
  limit: number,
): Promise<UnderWay[]> {
  return db.all(
    sql`SELECT p.attachment_id, p.n, a.blob_id, p.digest
       FROM attachment_parts p JOIN attachments a ON a.id = p.attachment_id
      WHERE (p.attachment_id, p.n) > (${after.attachment_id}, ${after.n}) AND a.status = 'uploading' AND p.stored = 1
      ORDER BY p.attachment_id, p.n LIMIT ${limit}`,
  )
}

/** The ids among these that are blobs, with the number of their parts. By primary key. */
export async function findBlobs(db: Queries, ids: Iterable<string>): Promise<Map<string, number>> {
  const rows = await db.all<{ id: string; parts: number }>(sql`SELECT id, parts FROM blobs WHERE id ${among(db, ids)}`)
  return new Map(rows.map(({ id, parts }) => [id, Number(parts)]))
}

/** An attachment whose bytes are lost. */
export interface Lost {
  id: string
  message_id: string | null
  conversation_id: string
  blob_id: string | null
  thumbnail_blob_id: string | null
}

/** The attachments that have a blob as their file, or as their thumbnail. By (blob_id), (thumbnail_blob_id). */
export function listWithBlob(db: Queries, blobId: string): Promise<Lost[]> {
  return db.all(
    sql`SELECT id, message_id, conversation_id, blob_id, thumbnail_blob_id FROM attachments WHERE blob_id = ${blobId}
          AND ${HAS_BYTES}
      UNION SELECT id, message_id, conversation_id, blob_id, thumbnail_blob_id FROM attachments
          WHERE thumbnail_blob_id = ${blobId}`,
  )
}

/** The user whose photo a blob is. By the index of own photos. */
export async function findWithPhoto(db: Queries, blobId: string): Promise<string | undefined> {
  const row = await db.get<{ id: string }>(
    sql`SELECT u.id FROM users u WHERE ${HAS_OWN_PHOTO} AND u.avatar_url = ${OWN_PHOTOS + blobId}`,
  )
  return row?.id
}

/** Whether a blob exists, and was not released. By primary key. */
export async function isLive(db: Queries, id: string): Promise<boolean> {
  return (await db.get(sql`SELECT 1 AS found FROM blobs WHERE id = ${id} AND released_at IS NULL`)) !== undefined
}

/**
 * Marks the attachments that have a blob as their file as gone, until its bytes come back; those that have it as their
 * thumbnail lose it, and so does the user whose photo it is. By (blob_id), (thumbnail_blob_id), and the index of own photos.
 */
export async function markBlobLost(tx: Queries, id: string, now: Micros): Promise<void> {
  await tx.run(
    sql`UPDATE attachments SET lost_status = status, lost_at = ${now}, status = 'gone', thumbnail_blob_id = NULL,
          thumbnail_type = NULL
      WHERE blob_id = ${id} AND ${HAS_BYTES}`,
  )
  await tx.run(sql`UPDATE attachments SET thumbnail_blob_id = NULL, thumbnail_type = NULL
         WHERE thumbnail_blob_id = ${id}`)
  await tx.run(
    sql`UPDATE users SET avatar_url = NULL, avatar_type = NULL WHERE substr(avatar_url, 1, 1) = '/'
          AND avatar_url = ${OWN_PHOTOS + id}`,
  )
}

/** The size of the bytes that files have, and the number of uploads under way. By (expires_at), and the changes of sizes. */
export async function sumOfFiles(db: Queries): Promise<{ bytes: number; uploading: number }> {
  const row = await db.get<{ bytes: number; uploading: number }>(
    sql`SELECT (SELECT CAST(coalesce(sum(bytes - released_bytes), 0) AS BIGINT) FROM blob_sizes) AS bytes,
            (SELECT count(*) FROM attachments WHERE expires_at IS NOT NULL AND status = 'uploading') AS uploading`,
  )
  return { bytes: Number(row!.bytes), uploading: Number(row!.uploading) }
}

/** The number of files that messages show whose bytes were deleted, or lost. */
export async function countGone(db: Queries): Promise<number> {
  const row = await db.get<{ gone: number }>(
    sql`SELECT count(*) AS gone FROM attachments a JOIN messages m ON m.id = a.message_id
      WHERE a.status = 'gone' AND m.deleted_at IS NULL`,
  )
  return Number(row!.gone)
}

/** Files, and their bytes. */
export interface FileTotals {
  attachments: number
  uploading: number
  scanning: number
  ready: number
  refused: number
  gone: number
  unattached: number
  blobs: number
  bytes: number
  released: number
  released_bytes: number
  due: number
  expired: number
}

/** Counts of all files. @param due until when a blob was released whose bytes can be deleted */
export async function countFiles(db: Queries, now: Micros, due: Micros): Promise<FileTotals> {
  const files = await db.get<Record<string, number>>(
    sql`SELECT count(*) AS attachments,
            count(CASE WHEN status = 'uploading' THEN 1 END) AS uploading,
            count(CASE WHEN status = 'scanning' THEN 1 END) AS scanning,
            count(CASE WHEN status = 'ready' THEN 1 END) AS ready,
            count(CASE WHEN status = 'refused' THEN 1 END) AS refused,
            count(CASE WHEN status = 'gone' THEN 1 END) AS gone,
            count(CASE WHEN message_id IS NULL THEN 1 END) AS unattached,
            count(CASE WHEN expires_at <= ${now} THEN 1 END) AS expired
       FROM attachments`,
  )
  const blobs = await db.get<Record<string, number>>(
    sql`SELECT count(*) AS blobs,
            CAST(coalesce(sum(size), 0) AS BIGINT) AS bytes,
            count(released_at) AS released,
            CAST(coalesce(sum(CASE WHEN released_at IS NOT NULL THEN size END), 0) AS BIGINT) AS released_bytes,
            count(CASE WHEN released_at <= ${due} THEN 1 END) AS due
       FROM blobs`,
  )
  return Object.fromEntries(
    Object.entries({ ...files, ...blobs }).map(([name, count]) => [name, Number(count)]),
  ) as unknown as FileTotals
}
