import type { Queries } from '../../storage/database.ts'
import { onRows } from '../../storage/on-rows.ts'
import { FIRST_DOC, sql } from '../../storage/sql.ts'

const SET_DOC = onRows<{ id: string; doc: number }>(
  { id: 'text', doc: 'bigint' },
  (given) => sql`UPDATE messages SET doc = given.doc FROM ${given} WHERE messages.id = given.id
         AND messages.doc IS NULL`,
)

/** Messages with lower ids than some. */
export interface Older {
  messages: { id: string; doc: number }[]
  /** The last id, if there are more. */
  next: string | undefined
}

/**
 * Up to `limit` messages with lower ids, the highest first; those without a number get one. On PostgreSQL they cannot
 * change until the end of the transaction. By primary key.
 */
export async function takeOlder(tx: Queries, before: string, limit: number): Promise<Older> {
  const rows = await tx.all<{ id: string; doc: number | null }>(
    sql`SELECT id, doc FROM messages WHERE id < ${before} ORDER BY id DESC
          LIMIT ${limit} ${tx.dialect === 'postgresql' ? sql`FOR SHARE` : sql``}`,
  )
  const messages = rows.some(({ doc }) => doc === null) ? await withDocs(tx, rows) : (rows as Older['messages'])
  return { messages, next: rows.length === limit ? rows.at(-1)!.id : undefined }
}

/** Gives the messages without a number the next lower numbers. */
async function withDocs(tx: Queries, rows: { id: string; doc: number | null }[]): Promise<Older['messages']> {
  const lowest = await tx.get<{ doc: number | null }>(sql`SELECT min(doc) AS doc FROM messages WHERE doc IS NOT NULL`)
  let doc = Math.min(lowest?.doc ?? FIRST_DOC, FIRST_DOC)
  const messages = rows.map((row) => ({ id: row.id, doc: row.doc ?? --doc }))
  await SET_DOC.run(
    tx,
    messages.filter((_, n) => rows[n]!.doc === null),
  )
  return messages
}
