import type { Queries } from '../../storage/database.ts'
import { sql } from '../../storage/sql.ts'

/** How many words PostgreSQL checks at once for messages that still have them. */
const SWEPT = 200

/**
 * Removes words that no message has any more, of some that were taken from messages. What is written into the index
 * in that time waits, as it would not store again a word that is being removed.
 *
 * @returns whether nothing is left
 */
export async function removeWords(tx: Queries): Promise<boolean> {
  await tx.run(sql`LOCK TABLE search_words IN SHARE ROW EXCLUSIVE MODE`)
  const gone = await tx.all<{ number: number }>(sql`SELECT number FROM search_gone ORDER BY number LIMIT ${SWEPT}`)
  if (gone.length === 0) return true
  const numbers = JSON.stringify(gone.map(({ number }) => number))
  const isGone = sql`number = ANY (ARRAY(SELECT jsonb_array_elements(${numbers}::jsonb)::integer))`
  await tx.run(
    sql`DELETE FROM search_words w WHERE ${isGone}
        AND NOT EXISTS (SELECT 1 FROM search_docs d WHERE d.words @> ARRAY[w.number])`,
  )
  await tx.run(sql`DELETE FROM search_gone WHERE ${isGone}`)
  return false
}
