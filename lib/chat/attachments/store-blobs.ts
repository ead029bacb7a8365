import type { Cutoff } from '../../core/clock.ts'
import type { Queries } from '../../storage/database.ts'
import { HAS_OWN_PHOTO, IS_PHOTO } from '../../storage/own-photos.ts'
import { among, jsonList, type Micros, sql } from '../../storage/sql.ts'

/** Bytes in the storage of files. */
export interface BlobRow {
  id: string
  size: number
  parts: number
}

/** The blobs of attachments. */
export function blobsOf(rows: readonly { blob_id: string | null; thumbnail_blob_id: string | null }[]): string[] {
  return rows.flatMap(({ blob_id, thumbnail_blob_id }) => [blob_id, thumbnail_blob_id].filter((id) => id !== null))
}

/** @param blob with the user whose upload it is; null for what the service makes */
export async function insertBlob(
  tx: Queries,
  blob: BlobRow & { created_at: Micros; uploaded_by: string | null },
): Promise<void> {
  await tx.run(
    sql`INSERT INTO blobs (id, size, parts, created_at, uploaded_by)
          VALUES (${blob.id}, ${blob.size}, ${blob.parts}, ${blob.created_at}, ${blob.uploaded_by})`,
  )
  await addSizes(tx, { bytes: blob.size, released_bytes: 0 })
}

/**
 * Locks a digest until the transaction ends, on PostgreSQL: two uploads of the same bytes may end at once.
 */
export async function lockDigest(tx: Queries, digest: string): Promise<void> {
  if (tx.dialect === 'postgresql')
    await tx.get(sql`SELECT pg_advisory_xact_lock(hashtextextended(${digest}, 0)) IS NULL AS done`)
}

/** Locks the live blob with these bytes, so that nothing releases it. By (digest, size). */
export async function lockLiveBlob(tx: Queries, digest: string, size: number): Promise<string | undefined> {
  const lock = tx.dialect === 'postgresql' ? sql` FOR UPDATE` : sql``
  const row = await tx.get<{ id: string }>(
    sql`SELECT id FROM blobs WHERE digest = ${digest} AND size = ${size} AND released_at IS NULL${lock}`,
  )
  return row?.id
}

/** Locks a blob, so that nothing releases it. By primary key. @returns whether it is live */
export async function lockLive(tx: Queries, id: string): Promise<boolean> {
  const lock = tx.dialect === 'postgresql' ? sql` FOR UPDATE` : sql``
  return (await tx.get(sql`SELECT id FROM blobs WHERE id = ${id} AND released_at IS NULL${lock}`)) !== undefined
}

export async function setDigest(tx: Queries, id: string, digest: string): Promise<void> {
  await tx.run(sql`UPDATE blobs SET digest = ${digest} WHERE id = ${id}`)
}

/** No attachment has the blob, and no user as photo. */
const UNUSED = sql`NOT EXISTS (SELECT 1 FROM attachments a WHERE a.blob_id = blobs.id)
  AND NOT EXISTS (SELECT 1 FROM attachments t WHERE t.thumbnail_blob_id = blobs.id)
  AND NOT ${IS_PHOTO}`

/**
 * Releases those of these blobs that no attachment has any more: their bytes are deleted later.
 *
 * @param at since when they count as released; 0 for bytes that are to be deleted at once
 * @returns the number of them
 */
export async function releaseUnused(tx: Queries, ids: Iterable<string>, at: Micros): Promise<number> {
  const list = jsonList(ids)
  if (list === '[]') return 0
  // Locked first, and checked then: an upload of the same bytes may be taking one.
  const lock = tx.dialect === 'postgresql' ? sql` FOR UPDATE` : sql``
  const before = await tx.all<{ id: string; size: number; released_at: Micros | null }>(
    sql`SELECT id, size, released_at FROM blobs WHERE id ${among(tx, ids)} ORDER BY id${lock}`,
  )
  const released = await tx.all<{ id: string }>(
    sql`UPDATE blobs SET released_at = ${at}
      WHERE id ${among(tx, ids)} AND (released_at IS NULL OR released_at > ${at}) AND ${UNUSED} RETURNING id`,
  )
  const changed = new Set(released.map(({ id }) => id))
  // One that was released before is only to be deleted sooner.
  const now = before.filter(({ id, released_at }) => released_at === null && changed.has(id))
  if (now.length > 0) await addSizes(tx, { bytes: 0, released_bytes: sizeOf(now) })
  return released.length
}

/** Releases a blob whose bytes are lost, which its files still name. @param at since when it counts as released */
export async function letGo(tx: Queries, id: string, at: Micros): Promise<void> {
  const released = await tx.all<{ size: number }>(
    sql`UPDATE blobs SET released_at = ${at} WHERE id = ${id} AND released_at IS NULL RETURNING size`,
  )
  if (released.length > 0) await addSizes(tx, { bytes: 0, released_bytes: sizeOf(released) })
}

/** Takes back the release of a blob. @returns false if it is deleted already */
export async function takeBack(tx: Queries, id: string): Promise<boolean> {
  const live = await tx.all<{ size: number }>(
    sql`UPDATE blobs SET released_at = NULL WHERE id = ${id} AND released_at IS NOT NULL RETURNING size`,
  )
  if (live.length > 0) await addSizes(tx, { bytes: 0, released_bytes: -sizeOf(live) })
  return live.length > 0
}

/** Up to `limit` photos after a path, with those of their blobs that a program without photos has released. */
export async function listReleasedPhotos(
  db: Queries,
  after: string,
  limit: number,
): Promise<{ released: string[]; last: string | undefined }> {
  const rows = await db.all<{ avatar_url: string; released: string | null }>(
    sql`SELECT u.avatar_url, b.id AS released FROM users u
       LEFT JOIN blobs b ON b.id = substr(u.avatar_url, 14) AND b.released_at IS NOT NULL
      WHERE ${HAS_OWN_PHOTO} AND u.avatar_url > ${after} ORDER BY u.avatar_url LIMIT ${limit}`,
  )
  const released = rows.flatMap((row) => row.released ?? [])
  return { released, last: rows.length < limit ? undefined : rows.at(-1)!.avatar_url }
}

const sizeOf = (blobs: readonly { size: number }[]) => blobs.reduce((sum, { size }) => sum + Number(size), 0)

/** Up to `limit` live blobs after one, of which no attachment has any. @returns also the last checked id */
export async function listUnused(
  db: Queries,
  after: string,
  limit: number,
): Promise<{ unused: string[]; last: string | undefined }> {
  const rows = await db.all<{ id: string; is_unused: number }>(
    sql`SELECT id, CASE WHEN ${UNUSED} THEN 1 ELSE 0 END AS is_unused FROM blobs
      WHERE id > ${after} AND released_at IS NULL ORDER BY id LIMIT ${limit}`,
  )
  const unused = rows.filter((row) => row.is_unused === 1).map((row) => row.id)
  return { unused, last: rows.length < limit ? undefined : rows.at(-1)!.id }
}

/** A place in the list of released blobs. */
export interface ReleasedPlace {
  released_at: Micros
  id: string
}

/**
 * Up to `limit` blobs that were released before an instant, after a place. By (released_at).
 *
 * @param options.lost_before the instant for those whose files may come back
 */
export function listReleased(
  db: Queries,
  before: Cutoff,
  {
    after = { released_at: -1, id: '' },
    lost_before,
    limit,
  }: { after?: ReleasedPlace | undefined; lost_before: Cutoff; limit: number },
): Promise<(BlobRow & ReleasedPlace)[]> {
  return db.all(
    sql`SELECT id, size, parts, released_at FROM blobs
      WHERE released_at IS NOT NULL AND released_at <= ${before}
          AND (released_at, id) > (${after.released_at}, ${after.id})
        AND NOT ${IS_PHOTO}
        AND (released_at <= ${lost_before} OR NOT EXISTS (
               SELECT 1 FROM attachments a WHERE a.blob_id = blobs.id AND a.lost_at IS NOT NULL
                   AND a.blob_id IS NOT NULL))
      ORDER BY released_at, id LIMIT ${limit}`,
  )
}

/** Deletes released blobs whose bytes are deleted. Of two processes that do so at once, one counts each of them. */
export async function deleteBlobs(tx: Queries, ids: Iterable<string>): Promise<void> {
  const deleted = await tx.all<{ size: number }>(
    sql`DELETE FROM blobs WHERE id ${among(tx, ids)} AND released_at IS NOT NULL RETURNING size`,
  )
  const size = sizeOf(deleted)
  if (size > 0) await addSizes(tx, { bytes: -size, released_bytes: -size })
}

/** What blobs take. */
export interface BlobSizes {
  /** The bytes of all blobs, also those being uploaded or waiting for deletion. */
  bytes: number
  /** The bytes of blobs that nothing refers to any more. */
  released_bytes: number
}

/** Adds a change of the sizes, in the transaction that changes the blobs. */
async function addSizes(tx: Queries, { bytes, released_bytes }: BlobSizes): Promise<void> {
  await tx.run(sql`INSERT INTO blob_sizes (bytes, released_bytes) VALUES (${bytes}, ${released_bytes})`)
}

/** What all blobs take. Reads the changes since the last sweep. */
export async function sumOfBlobs(db: Queries): Promise<BlobSizes> {
  const row = await db.get<BlobSizes>(
    sql`SELECT CAST(coalesce(sum(bytes), 0) AS BIGINT) AS bytes,
            CAST(coalesce(sum(released_bytes), 0) AS BIGINT) AS released_bytes FROM blob_sizes`,
  )
  return { bytes: Number(row!.bytes), released_bytes: Number(row!.released_bytes) }
}

/** Whether there is more than one change to sum up. */
export async function canFoldSizes(db: Queries): Promise<boolean> {
  return (await db.all(sql`SELECT 1 AS found FROM blob_sizes LIMIT 2`)).length === 2
}

/** Makes one row of all changes. Of two processes that do so at once, each takes rows that the other does not have. */
export async function foldSizes(tx: Queries): Promise<void> {
  const taken = await tx.all<BlobSizes>(sql`DELETE FROM blob_sizes RETURNING bytes, released_bytes`)
  const sum = (of: keyof BlobSizes) => taken.reduce((total, row) => total + Number(row[of]), 0)
  if (taken.length > 0) await addSizes(tx, { bytes: sum('bytes'), released_bytes: sum('released_bytes') })
}

/** What the blobs of a user take that no attachment has any more, until they are deleted. By (uploaded_by). */
export async function sumOfUnused(db: Queries, userId: string): Promise<number> {
  const row = await db.get<{ bytes: number }>(
    sql`SELECT CAST(coalesce(sum(size), 0) AS BIGINT) AS bytes FROM blobs WHERE uploaded_by = ${userId} AND ${UNUSED}`,
  )
  return Number(row!.bytes)
}

/** Removes the name of a user from up to `limit` blobs. By (uploaded_by). @returns the number */
export function forgetOwner(tx: Queries, userId: string, limit: number): Promise<number> {
  return tx.run(
    sql`UPDATE blobs SET uploaded_by = NULL WHERE id IN (SELECT id FROM blobs WHERE uploaded_by = ${userId}
          LIMIT ${limit})`,
  )
}

/** Locks the size of all blobs until the transaction ends, on PostgreSQL: uploads that begin at once are counted one by one. */
export async function lockSizes(tx: Queries): Promise<void> {
  if (tx.dialect === 'postgresql')
    await tx.get(sql`SELECT pg_advisory_xact_lock(hashtextextended('blob_sizes', 0)) IS NULL AS done`)
}
