import type { Queries } from '../../storage/database.ts'
import { onRows } from '../../storage/on-rows.ts'
import { isErasedAuthor, type Sql, sql } from '../../storage/sql.ts'
import { ADD_TO_SUM } from '../../storage/usage-sums.ts'
import type { Piece, Sum, UsagePlace } from './rules.ts'
import type { StorageUsage, UsageKind } from './schema.ts'

/** Some rows of a table, and the last of them; without it there are no more. */
export interface Slice {
  pieces: Piece[]
  last: string | undefined
}

/** The next `limit` files. Those of deleted messages are released: they have an end. By primary key. */
export async function readFiles(db: Queries, after: string, limit: number): Promise<Slice> {
  const rows = await db.all<Parts & { size: number; is_stored: number; is_released: number }>(
    sql`SELECT id, uploaded_by AS user_id, conversation_id, size, CASE WHEN blob_id IS NULL THEN 0 ELSE 1
          END AS is_stored,
            CASE WHEN message_id IS NOT NULL AND expires_at IS NOT NULL THEN 1 ELSE 0 END AS is_released
       FROM attachments WHERE id > ${after} ORDER BY id LIMIT ${limit}`,
  )
  return sliceOf(rows, limit, ({ user_id, conversation_id, size, is_stored, is_released }) =>
    is_stored ? { user_id, conversation_id, files: 1, bytes: size, released_bytes: is_released * size } : undefined,
  )
}

/** The next `limit` blobs: those that no file has any more are still their user's. By primary key. */
export async function readUnused(db: Queries, after: string, limit: number): Promise<Slice> {
  const rows = await db.all<Parts & { size: number; is_unused: number }>(
    sql`SELECT id, uploaded_by AS user_id, size,
            CASE WHEN uploaded_by IS NOT NULL AND NOT EXISTS (SELECT 1 FROM attachments a WHERE a.blob_id = blobs.id)
                  AND NOT EXISTS (SELECT 1 FROM attachments t
                  WHERE t.thumbnail_blob_id = blobs.id) THEN 1 ELSE 0 END AS is_unused
       FROM blobs WHERE id > ${after} ORDER BY id LIMIT ${limit}`,
  )
  return sliceOf(rows, limit, ({ user_id, size, is_unused }) =>
    is_unused ? { user_id, conversation_id: null, bytes: size, released_bytes: size } : undefined,
  )
}

/** The next `limit` messages. By primary key; the texts themselves are not read. */
export async function readMessages(db: Queries, after: string, limit: number): Promise<Slice> {
  const rows = await db.all<Parts & { size: number }>(
    sql`SELECT id, posted_by AS user_id, conversation_id, octet_length(content) AS size
       FROM messages WHERE id > ${after} ORDER BY id LIMIT ${limit}`,
  )
  return sliceOf(rows, limit, ({ user_id, conversation_id, size }) => ({
    user_id,
    conversation_id,
    message_bytes: size,
  }))
}

type Parts = Pick<Piece, 'user_id' | 'conversation_id'> & { id: string }

function sliceOf<Row extends Parts>(rows: Row[], limit: number, toPiece: (row: Row) => Piece | undefined): Slice {
  return {
    pieces: rows.flatMap((row) => toPiece(row) ?? []),
    last: rows.length < limit ? undefined : rows.at(-1)!.id,
  }
}

const ADD = onRows<Sum & { n: number; total: number }>(
  {
    n: 'bigint',
    kind: 'text',
    key: 'text',
    files: 'bigint',
    bytes: 'bigint',
    released_bytes: 'bigint',
    message_bytes: 'bigint',
    total: 'bigint',
  },
  (given) =>
    sql`INSERT INTO usage_sums (n, kind, key, files, bytes, released_bytes, message_bytes, total)
     SELECT n, kind, key, files, bytes, released_bytes, message_bytes, total FROM ${given} WHERE true
     ${ADD_TO_SUM}`,
)

/** Adds to the sums of a round. */
export function addSums(tx: Queries, n: number, sums: readonly Sum[]): Promise<void> {
  return ADD.run(
    tx,
    sums.map((sum) => ({ ...sum, n, total: sum.bytes + sum.message_bytes })),
  )
}

/** Deletes up to `limit` sums of a round. By primary key. @returns the number */
export function deleteSums(tx: Queries, n: number, limit: number): Promise<number> {
  return tx.run(
    sql`DELETE FROM usage_sums WHERE n = ${n} AND (kind, key) IN (SELECT kind, key FROM usage_sums WHERE n = ${n}
          LIMIT ${limit})`,
  )
}

/** Deletes the sums of a user who was erased, or of a conversation that was deleted. By primary key. */
export async function forgetSums(tx: Queries, kind: UsageKind, key: string): Promise<void> {
  await tx.run(sql`DELETE FROM usage_sums WHERE n IN (SELECT n FROM usage_rounds) AND kind = ${kind} AND key = ${key}`)
}

/** Which sums are shown: of users who are not being erased, of conversations that are not deleted. */
const IS_SHOWN: Record<UsageKind, Sql> = {
  user: sql`EXISTS (SELECT 1 FROM users u WHERE u.id = s.key) AND NOT ${isErasedAuthor(sql`s.key`)}`,
  conversation: sql`EXISTS (SELECT 1 FROM conversations c WHERE c.id = s.key AND c.deleted_at IS NULL)`,
}

/** Up to `limit` sums of a round after a place, largest first. By usage_sums_by_size. */
export function listSums(
  db: Queries,
  kind: UsageKind,
  { n, total, key }: UsagePlace,
  limit: number,
): Promise<(StorageUsage & UsagePlace)[]> {
  return db.all(
    sql`SELECT s.n, s.key, s.files, s.bytes, s.released_bytes, s.message_bytes, s.total FROM usage_sums s
      WHERE s.n = ${n} AND s.kind = ${kind} AND (s.total, s.key) < (${total}, ${key}) AND ${IS_SHOWN[kind]}
      ORDER BY s.total DESC, s.key DESC LIMIT ${limit}`,
  )
}
