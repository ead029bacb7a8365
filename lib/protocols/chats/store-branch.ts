import { CONTENT_SIZE } from '../../storage/answer-parts.ts'
import type { Queries } from '../../storage/database.ts'
import { among, isErasedAuthor, sql } from '../../storage/sql.ts'

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

/** The path of a message in its thread. By primary key. */
export function findPath(db: Queries, id: string): Promise<{ root_id: string; path: string } | undefined> {
  return db.get(sql`SELECT root_id, path FROM messages WHERE id = ${id}`)
}

/** An answer among those at its place. */
export interface VariantRow {
  id: string
  of_id: string
}

/**
 * The answers at the places of these ones that are not deleted, oldest first: each with the one for which it is listed. Roots are
 * found by arrival, and replies by their parent.
 */
export function listVariants(db: Queries, ids: readonly string[]): Promise<VariantRow[]> {
  return db.all<VariantRow>(
    sql`SELECT o.id, m.id AS of_id FROM messages m
       JOIN messages o ON o.conversation_id = m.conversation_id AND o.role = 'assistant'
        AND coalesce(o.variant_of, o.id) = coalesce(m.variant_of, m.id)
        AND (o.parent_id = m.parent_id OR (o.parent_id IS NULL AND m.parent_id IS NULL))
      WHERE m.id ${among(db, ids)} AND o.deleted_at IS NULL AND NOT ${isErasedAuthor(sql`o.posted_by`)}
      ORDER BY o.created_at`,
  )
}
