import type { Queries } from '../../storage/database.ts'
import { isErasedAuthor, literal, type Sql, sql } from '../../storage/sql.ts'

/** How many of the latest answers to a question are looked at for its files, besides the one that is named and the first. */
const MAX_EARLIER = 100

/** An answer of a set. */
export interface EarlierAnswer {
  id: string
  is_deleted: number
  /** Whether it has this question. */
  is_same: number
}

/** The answers of the set to which one belongs, in the order of their ids: that one, the first, and the latest. By primary key and (variant_of). */
export function listSet(db: Queries, id: string, prompt: string): Promise<EarlierAnswer[]> {
  const first = sql`(SELECT coalesce(named.variant_of, named.id) FROM messages named WHERE named.id = ${id})`
  const answers = (condition: Sql) =>
    sql`SELECT m.id, CASE WHEN m.deleted_at IS NOT NULL OR ${isErasedAuthor(sql`m.posted_by`)} THEN 1 ELSE 0 END AS is_deleted,
            CASE WHEN m.prompt = ${prompt} THEN 1 ELSE 0 END AS is_same
       FROM messages m WHERE ${condition}`
  return db.all(
    sql`${answers(sql`m.id = ${id} OR m.id = ${first}`)}
      UNION ${answers(sql`m.id IN (SELECT v.id FROM messages v WHERE v.variant_of IS NOT NULL AND v.variant_of = ${first}
        ORDER BY v.id DESC LIMIT ${literal(MAX_EARLIER)})`)}
      ORDER BY id`,
  )
}
