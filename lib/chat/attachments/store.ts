import { toInstant } from '../../core/time.ts'
import type { Queries } from '../../storage/database.ts'
import { among, isErasedAuthor, type Micros, sql } from '../../storage/sql.ts'
import { shownType } from './rules.ts'
import type { Attachment } from './schema.ts'

/** A row of an attachment. */
export interface AttachmentRow {
  id: string
  conversation_id: string
  message_id: string | null
  position: number | null
  uploaded_by: string | null
  name: string
  /** As the client calls it. */
  type: string | null
  /** The type by its first bytes; null until they are stored. */
  sniffed: string | null
  size: number
  status: Attachment['status']
  reason: string | null
  /** Null once the bytes are deleted. */
  blob_id: string | null
  thumbnail_blob_id: string | null
  thumbnail_type: string | null
  width: number | null
  height: number | null
  created_at: Micros
  expires_at: Micros | null
  /** 1 for a file that an assistant has made. */
  generated: number | null
}

const COLUMNS = sql`a.id, a.conversation_id, a.message_id, a.position, a.uploaded_by, a.name, a.type, a.sniffed, a.size,
       a.status,
  a.reason, a.blob_id, a.thumbnail_blob_id, a.thumbnail_type, a.width, a.height, a.created_at, a.expires_at, a.generated`

/** A row as readers get it. */
export function toAttachment(row: AttachmentRow): Attachment {
  return {
    id: row.id,
    name: row.name,
    size: row.size,
    type: shownType(row),
    status: row.status,
    ...(row.reason !== null && { reason: row.reason }),
    ...(row.width !== null && row.height !== null && { width: row.width, height: row.height }),
    ...(row.thumbnail_blob_id !== null && { thumbnail: true as const }),
    ...(row.uploaded_by !== null && { uploaded_by: row.uploaded_by }),
    ...(row.generated === 1 && { generated: true as const }),
    created_at: toInstant(row.created_at),
  }
}

/** An attachment with what decides which users may read it. */
export interface FoundAttachment extends AttachmentRow {
  /** 1 if its message is deleted, or erased with its author. */
  is_deleted: number
  posted_by: string | null
  deleted_by: string | null
  /** The digest of its bytes, once all are stored. */
  digest: string | null
}

/** By primary keys. Without a check of rights. */
export async function findAttachment(db: Queries, id: string): Promise<FoundAttachment | undefined> {
  const row = await db.get<FoundAttachment & { erasure: string | null }>(
    sql`SELECT ${COLUMNS}, b.digest, m.posted_by, m.deleted_by,
            CASE WHEN m.deleted_at IS NOT NULL OR ${isErasedAuthor(sql`m.posted_by`)} THEN 1 ELSE 0 END AS is_deleted,
            (SELECT gone.messages FROM erased_authors gone WHERE gone.user_id = a.uploaded_by) AS erasure
       FROM attachments a
       LEFT JOIN messages m ON m.id = a.message_id
       LEFT JOIN blobs b ON b.id = a.blob_id
      WHERE a.id = ${id}`,
  )
  // Its uploader is being erased: the row has the name for a moment more.
  return row && (row.erasure === null ? row : { ...row, uploaded_by: null })
}

/** Locks an attachment. By primary key. */
export function lockAttachment(tx: Queries, id: string): Promise<AttachmentRow | undefined> {
  return tx.get(sql`SELECT ${COLUMNS} FROM attachments a WHERE a.id = ${id}${forUpdate(tx)}`)
}

/** Locks attachments, in the order of ids, so that two transactions cannot deadlock. By primary key. */
export function lockAttachments(tx: Queries, ids: Iterable<string>): Promise<AttachmentRow[]> {
  return tx.all(sql`SELECT ${COLUMNS} FROM attachments a WHERE a.id ${among(tx, ids)} ORDER BY a.id${forUpdate(tx)}`)
}

/** Attachments, without a lock. By primary key. */
export function listAttachments(db: Queries, ids: Iterable<string>): Promise<AttachmentRow[]> {
  return db.all(sql`SELECT ${COLUMNS} FROM attachments a WHERE a.id ${among(db, ids)}`)
}

/** The attachments of a message, in their order. By (message_id). */
export function listOfMessage(db: Queries, messageId: string): Promise<AttachmentRow[]> {
  return db.all(sql`SELECT ${COLUMNS} FROM attachments a WHERE a.message_id = ${messageId} ORDER BY a.position`)
}

/** The files that answers have of their questions, in their order. By (message_id). */
export function listOfQuestions(db: Queries, messageIds: Iterable<string>): Promise<AttachmentRow[]> {
  return db.all(
    sql`SELECT ${COLUMNS} FROM attachments a WHERE a.message_id ${among(db, messageIds)} AND a.generated IS NULL
      ORDER BY a.message_id, a.position`,
  )
}

const forUpdate = (tx: Queries) => (tx.dialect === 'postgresql' ? sql` FOR UPDATE` : sql``)

export async function insertAttachment(
  tx: Queries,
  row: Pick<
    AttachmentRow,
    'id' | 'conversation_id' | 'uploaded_by' | 'name' | 'type' | 'size' | 'blob_id' | 'created_at' | 'expires_at'
  >,
): Promise<void> {
  await tx.run(
    sql`INSERT INTO attachments (id, conversation_id, uploaded_by, name, type, size, status, blob_id, created_at,
          expires_at)
     VALUES (${row.id}, ${row.conversation_id}, ${row.uploaded_by}, ${row.name}, ${row.type}, ${row.size}, 'uploading',
             ${row.blob_id}, ${row.created_at}, ${row.expires_at})`,
  )
}

/** How many uploads of a user are under way. By (uploaded_by) of those. */
export async function countUnderWay(db: Queries, userId: string, now: Micros): Promise<number> {
  const row = await db.get<{ count: number }>(
    sql`SELECT count(*) AS count FROM attachments WHERE uploaded_by = ${userId} AND status = 'uploading'
          AND expires_at > ${now}`,
  )
  return Number(row!.count)
}

/** What the files of a user take. By (uploaded_by): it reads all of them. */
export async function sumOfUser(db: Queries, userId: string): Promise<number> {
  const row = await db.get<{ bytes: number }>(
    sql`SELECT CAST(coalesce(sum(size), 0) AS BIGINT) AS bytes
       FROM attachments WHERE uploaded_by = ${userId} AND blob_id IS NOT NULL`,
  )
  return Number(row!.bytes)
}

/** Locks a user: other uploads of the user begin after this transaction. */
export async function lockUploader(tx: Queries, userId: string): Promise<void> {
  await tx.get(sql`SELECT id FROM users
         WHERE id = ${userId}${tx.dialect === 'postgresql' ? sql` FOR NO KEY UPDATE` : sql``}`)
}

/** Stores what the first part of an upload shows. */
export async function setSniffed(
  tx: Queries,
  id: string,
  { sniffed, width, height }: { sniffed: string; width: number | null; height: number | null },
): Promise<void> {
  await tx.run(sql`UPDATE attachments SET sniffed = ${sniffed}, width = ${width}, height = ${height} WHERE id = ${id}`)
}

/** Ends an upload: the attachment has these bytes, and waits for a message until `expires_at`. */
export async function markComplete(
  tx: Queries,
  id: string,
  { blob_id, status, expires_at }: Pick<AttachmentRow, 'blob_id' | 'status' | 'expires_at'>,
): Promise<void> {
  await tx.run(
    sql`UPDATE attachments SET blob_id = ${blob_id}, status = ${status}, expires_at = ${expires_at} WHERE id = ${id}`,
  )
}

/** Gives attachments to a message, in this order. */
export async function attach(tx: Queries, messageId: string, ids: readonly string[]): Promise<void> {
  await Promise.all(
    ids.map((id, position) =>
      tx.run(
        sql`UPDATE attachments SET message_id = ${messageId}, position = ${position}, expires_at = NULL
              WHERE id = ${id}`,
      ),
    ),
  )
}

/** Adds a file with the bytes of another one, which a message is about to get. */
export async function copyAttachment(
  tx: Queries,
  from: string,
  { id, uploaded_by, created_at }: { id: string; uploaded_by: string; created_at: Micros },
): Promise<void> {
  await tx.run(
    sql`INSERT INTO attachments (id, conversation_id, uploaded_by, name, type, sniffed, size, status, blob_id, thumbnail_blob_id,
          thumbnail_type, width, height, created_at, expires_at)
     SELECT CAST(${id} AS TEXT), conversation_id, CAST(${uploaded_by} AS TEXT), name, type, sniffed, size, status, blob_id,
            thumbnail_blob_id, thumbnail_type, width, height, CAST(${created_at} AS BIGINT), CAST(${created_at} AS BIGINT)
       FROM attachments WHERE id = ${from}`,
  )
  await tx.run(
    sql`INSERT INTO attachment_parts (attachment_id, n, digest, stored)
     SELECT CAST(${id} AS TEXT), n, digest, stored FROM attachment_parts WHERE attachment_id = ${from}`,
  )
}

/** Gives a file that an assistant has made to its answer. */
export async function attachGenerated(
  tx: Queries,
  { id, message_id, position }: { id: string; message_id: string; position: number },
): Promise<void> {
  await tx.run(
    sql`UPDATE attachments SET message_id = ${message_id}, position = ${position}, expires_at = NULL, generated = 1
      WHERE id = ${id}`,
  )
}

/** Deletes attachments with the rows of their parts. */
export async function deleteAttachments(tx: Queries, ids: Iterable<string>): Promise<void> {
  await tx.run(sql`DELETE FROM attachments WHERE id ${among(tx, ids)}`)
}

/** Sets when the files of a deleted message lose their bytes; null for a restored one. By (message_id). */
export async function setExpiry(tx: Queries, messageId: string, expires_at: Micros | null): Promise<void> {
  await tx.run(sql`UPDATE attachments SET expires_at = ${expires_at} WHERE message_id = ${messageId}`)
}

/** Stores the list of files of a message. */
export async function setList(tx: Queries, messageId: string, list: string | null): Promise<void> {
  await tx.run(sql`UPDATE messages SET attachment_list = ${list} WHERE id = ${messageId}`)
}
