import { CONTENT_SIZE } from '../../storage/answer-parts.ts'
import type { Queries } from '../../storage/database.ts'
import { among, isErasedAuthor, type Sql, sql } from '../../storage/sql.ts'

/** A message of a branch, without its text. */
export interface BranchRow {
  id: string
  role: string
  status: string
  variant_of: string | null
  size: number
  is_gone: number
}

/** The messages at these paths of a thread, from the root down. By (root_id, path). */
export function listBranch(db: Queries, rootId: string, paths: readonly string[]): Promise<BranchRow[]> {
  return db.all<BranchRow>(
    sql`SELECT id, role, status, variant_of, ${CONTENT_SIZE} + coalesce(octet_length(prompt), 0) AS size,
            CASE WHEN deleted_at IS NOT NULL OR ${isErasedAuthor(sql`messages.posted_by`)} THEN 1 ELSE 0 END AS is_gone
       FROM messages WHERE root_id = ${rootId} AND path ${among(db, paths)} ORDER BY depth`,
  )
}

/** Where a message is in its thread. */
export interface PathRow {
  root_id: string
  path: string
  /** The number of its replies, deleted ones included. */
  reply_count: number
}

/** The path of a message in its thread. By primary key. */
export function findPath(db: Queries, id: string): Promise<PathRow | undefined> {
  return db.get<PathRow>(sql`SELECT root_id, path, reply_count FROM messages WHERE id = ${id}`)
}

/** An answer among those at its place. */
export interface VariantRow {
  id: string
  of_id: string
}

/**
 * The answers at the places of these ones that are not deleted, oldest first: each with the one for which it is listed. By primary
 * key, and by variants_of_answer.
 */
export async function listVariants(db: Queries, ids: readonly string[]): Promise<VariantRow[]> {
  const own = await db.all<{ id: string; first_id: string }>(
    sql`SELECT id, coalesce(variant_of, id) AS first_id FROM messages WHERE id ${among(db, ids)}`,
  )
  const firsts = [...new Set(own.map(({ first_id }) => first_id))]
  const all = await db.all<{ id: string; first_id: string }>(
    sql`SELECT id, first_id FROM (${variantsWhere(sql`o.id ${among(db, firsts)}`)}
      UNION ALL ${variantsWhere(sql`o.variant_of ${among(db, firsts)} AND o.variant_of IS NOT NULL`)}) variants
      ORDER BY created_at, id`,
  )
  return all.flatMap(({ id, first_id }) =>
    own.flatMap((of) => (of.first_id === first_id ? [{ id, of_id: of.id }] : [])),
  )
}

const variantsWhere = (isVariant: Sql) =>
  sql`SELECT o.id, coalesce(o.variant_of, o.id) AS first_id, o.created_at FROM messages o
    WHERE ${isVariant} AND o.role = 'assistant' AND o.deleted_at IS NULL AND NOT ${isErasedAuthor(sql`o.posted_by`)}`
