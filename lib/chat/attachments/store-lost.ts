import type { Queries } from '../../storage/database.ts'
import { isErasedAuthor, isOneOf, jsonList, type Micros } from '../../storage/sql.ts'
import type { WholeBlob } from './store-checking.ts'

/**
 * Lost files that come back with their bytes: not those of messages that were deleted or erased, nor uploads that ran out.
 * A blob whose bytes are about to be deleted is none of them.
 */
const COMES_BACK = `a.lost_at IS NOT NULL AND b.released_at > ?
  AND (a.message_id IS NULL OR (m.deleted_at IS NULL AND NOT ${isErasedAuthor('m.posted_by')}))
  AND (a.message_id IS NOT NULL OR a.expires_at > ?)`

const JOINED = `attachments a JOIN blobs b ON b.id = a.blob_id LEFT JOIN messages m ON m.id = a.message_id`

/** What decides which lost files come back. */
interface ComingBack {
  now: Micros
  /** A blob that was released before may be deleted at any moment. */
  due: Micros
}

/** Up to `limit` blobs of lost files, after an id, or the newest ones. By `lost_attachments`. */
export function listLostBlobs(
  db: Queries,
  { after = '', newest = false, limit, now, due }: ComingBack & { after?: string; newest?: boolean; limit: number },
): Promise<Omit<WholeBlob, 'files'>[]> {
  return db.all(
    `SELECT DISTINCT b.id, b.size, b.parts, b.digest FROM ${JOINED}
      WHERE a.blob_id > ? AND a.blob_id IS NOT NULL AND ${COMES_BACK} ORDER BY b.id ${newest ? 'DESC' : ''} LIMIT ?`,
    after,
    due,
    now,
    limit,
  )
}

/** A lost file that comes back. */
export interface ComingFile {
  id: string
  message_id: string | null
  conversation_id: string
}

/** The lost files of a blob that come back. By `lost_attachments`. */
export function listComing(db: Queries, blobId: string, { now, due }: ComingBack): Promise<ComingFile[]> {
  return db.all(
    `SELECT a.id, a.message_id, a.conversation_id FROM ${JOINED} WHERE a.blob_id = ? AND ${COMES_BACK}`,
    blobId,
    due,
    now,
  )
}

/** Gives lost files their bytes again. */
export async function markBack(tx: Queries, ids: Iterable<string>, blobId: string): Promise<void> {
  await tx.run(
    `UPDATE attachments SET status = coalesce(lost_status, 'ready'), blob_id = ?, lost_at = NULL, lost_status = NULL
      WHERE id ${isOneOf(tx.dialect)} AND lost_at IS NOT NULL`,
    blobId,
    jsonList(ids),
  )
}

/** Takes deleted blobs from the lost files that waited for them: they do not come back. By `lost_attachments`. */
export async function forgetLost(tx: Queries, blobIds: Iterable<string>): Promise<void> {
  await tx.run(
    `UPDATE attachments SET blob_id = NULL WHERE blob_id ${isOneOf(tx.dialect)} AND lost_at IS NOT NULL AND blob_id IS NOT NULL`,
    jsonList(blobIds),
  )
}
