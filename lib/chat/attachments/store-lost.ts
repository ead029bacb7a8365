import type { Queries } from '../../storage/database.ts'
import { among, isErasedAuthor, type Micros, sql } from '../../storage/sql.ts'
import type { WholeBlob } from './store-checking.ts'

/**
 * Lost files that come back with their bytes: not those of messages that were deleted or erased, nor uploads that ran out.
 * A blob whose bytes are about to be deleted is none of them.
 */
const comesBack = ({ now, due }: ComingBack) => sql`a.lost_at IS NOT NULL AND b.released_at > ${due}
  AND (a.message_id IS NULL OR (m.deleted_at IS NULL AND NOT ${isErasedAuthor(sql`m.posted_by`)}))
  AND (a.message_id IS NOT NULL OR a.expires_at > ${now})`

const JOINED = sql`attachments a JOIN blobs b ON b.id = a.blob_id LEFT JOIN messages m ON m.id = a.message_id`

/** What decides which lost files come back. */
interface ComingBack {
  now: Micros
  /** A blob that was released before may be deleted at any moment. */
  due: Micros
}

/** Up to `limit` blobs of lost files, after an id, or the newest ones. By `lost_attachments`. */
export function listLostBlobs(
  db: Queries,
  { after = '', newest = false, limit, ...times }: ComingBack & { after?: string; newest?: boolean; limit: number },
): Promise<Omit<WholeBlob, 'files'>[]> {
  return db.all(
    sql`SELECT DISTINCT b.id, b.size, b.parts, b.digest FROM ${JOINED}
      WHERE a.blob_id > ${after} AND a.blob_id IS NOT NULL AND ${comesBack(times)}
      ORDER BY b.id ${newest ? sql`DESC` : sql``} LIMIT ${limit}`,
  )
}

/** A lost file that comes back. */
export interface ComingFile {
  id: string
  message_id: string | null
  conversation_id: string
}

/** The lost files of a blob that come back. By `lost_attachments`. */
export function listComing(db: Queries, blobId: string, times: ComingBack): Promise<ComingFile[]> {
  return db.all(
    sql`SELECT a.id, a.message_id, a.conversation_id FROM ${JOINED} WHERE a.blob_id = ${blobId}
          AND ${comesBack(times)}`,
  )
}

/** Gives lost files their bytes again. */
export async function markBack(tx: Queries, ids: Iterable<string>, blobId: string): Promise<void> {
  await tx.run(
    sql`UPDATE attachments SET status = coalesce(lost_status, 'ready'), blob_id = ${blobId}, lost_at = NULL,
          lost_status = NULL
      WHERE id ${among(tx, ids)} AND lost_at IS NOT NULL`,
  )
}

/** Takes deleted blobs from the lost files that waited for them: they do not come back. By `lost_attachments`. */
export async function forgetLost(tx: Queries, blobIds: Iterable<string>): Promise<void> {
  await tx.run(
    sql`UPDATE attachments SET blob_id = NULL WHERE blob_id ${among(tx, blobIds)} AND lost_at IS NOT NULL
          AND blob_id IS NOT NULL`,
  )
}
