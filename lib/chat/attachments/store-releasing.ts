import type { Cutoff } from '../../core/clock.ts'
import type { Queries } from '../../storage/database.ts'
import { among, type Micros, sql } from '../../storage/sql.ts'

/** An attachment with its blobs. */
export interface Released {
  id: string
  message_id: string | null
  conversation_id: string
  status: string
  blob_id: string | null
  thumbnail_blob_id: string | null
  expires_at: Micros
}

const COLUMNS = sql`id, message_id, conversation_id, status, blob_id, thumbnail_blob_id, expires_at`

/** Deletes the attachments of messages. By (message_id). @returns them */
export function takeOfMessages(tx: Queries, messageIds: Iterable<string>): Promise<Released[]> {
  return tx.all(sql`DELETE FROM attachments WHERE message_id ${among(tx, messageIds)} RETURNING ${COLUMNS}`)
}

/** Deletes up to `limit` attachments of a user that no message has. By (uploaded_by). @returns them */
export function takeUnattached(tx: Queries, userId: string, limit: number): Promise<Released[]> {
  return tx.all(
    sql`DELETE FROM attachments WHERE id IN (
       SELECT id FROM attachments WHERE uploaded_by = ${userId} AND message_id IS NULL LIMIT ${limit})
       RETURNING ${COLUMNS}`,
  )
}

/** Removes the name of the uploader from the attachments of messages. By (message_id). */
export async function forgetUploader(tx: Queries, messageIds: Iterable<string>): Promise<void> {
  await tx.run(sql`UPDATE attachments SET uploaded_by = NULL WHERE message_id ${among(tx, messageIds)}`)
}

/** Up to `limit` expired attachments, after a place. By (expires_at). */
export function listExpired(
  db: Queries,
  now: Cutoff,
  after: { expires_at: Micros; id: string },
  limit: number,
): Promise<Released[]> {
  return db.all(
    sql`SELECT ${COLUMNS} FROM attachments
      WHERE expires_at <= ${now} AND (expires_at, id) > (${after.expires_at}, ${after.id}) ORDER BY expires_at, id
      LIMIT ${limit}`,
  )
}

/** Deletes the given attachments that are still expired and unattached. @returns them */
export function takeExpired(tx: Queries, ids: Iterable<string>, now: Cutoff): Promise<Released[]> {
  return tx.all(
    sql`DELETE FROM attachments WHERE id ${among(tx, ids)} AND message_id IS NULL AND expires_at <= ${now}
          RETURNING ${COLUMNS}`,
  )
}

/** Takes the bytes from the expired attachments of a message. By (message_id). @returns the number */
export function markGone(tx: Queries, messageId: string, now: Cutoff): Promise<number> {
  return tx.run(
    sql`UPDATE attachments SET status = 'gone', blob_id = NULL, thumbnail_blob_id = NULL, thumbnail_type = NULL,
          expires_at = NULL,
                            lost_at = NULL, lost_status = NULL
      WHERE message_id = ${messageId} AND expires_at <= ${now}`,
  )
}
