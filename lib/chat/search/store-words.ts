import type { Queries } from '../../storage/database.ts'

/** The fewest characters of a beginning that is searched for. */
const MIN_PREFIX = 3

/** With more words that begin so, the texts of messages are compared instead: an index would be asked for each of them. */
const MOST_WORDS = 2_000

/** Words of which PostgreSQL looks at once whether messages still have them. */
const SWEPT = 200

/** The number of a word in the index of PostgreSQL. Two words may have the same one: texts are compared anyway. */
export function numberOf(word: string): number {
  let hash = 0x811c9dc5
  for (let n = 0; n < word.length; n++) hash = Math.imul(hash ^ word.charCodeAt(n), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return (hash ^ (hash >>> 13)) | 0
}

/** Stores words that a query can ask for by their beginnings. In their order, so that two processes do not wait for each other. */
export async function addWords(tx: Queries, words: Iterable<string>): Promise<void> {
  const asked = [...new Set(words)].filter((word) => word.length >= MIN_PREFIX && !word.startsWith('#')).sort()
  await tx.run(
    `INSERT INTO search_words (word, number) SELECT word, number FROM json_to_recordset(?) AS given(word text, number integer)
     ON CONFLICT (word) DO NOTHING`,
    JSON.stringify(asked.map((word) => ({ word, number: numberOf(word) }))),
  )
}

/** The numbers of the words that begin so; `undefined` if they are too many. By primary key. */
export async function findBeginning(db: Queries, prefix: string): Promise<number[] | undefined> {
  const rows = await db.all<{ number: number }>(
    'SELECT number FROM search_words WHERE word >= ? AND word <= ? LIMIT ?',
    prefix,
    `${prefix}\u{10FFFF}`,
    MOST_WORDS + 1,
  )
  return rows.length > MOST_WORDS ? undefined : rows.map(({ number }) => number)
}

/**
 * Removes words that no message has any more, of some that were taken from messages. What is written into the index
 * meanwhile waits, as it would not store again a word that is being removed.
 *
 * @returns whether nothing is left
 */
export async function removeWords(tx: Queries): Promise<boolean> {
  await tx.run('LOCK TABLE search_words IN SHARE ROW EXCLUSIVE MODE')
  const gone = await tx.all<{ number: number }>('SELECT number FROM search_gone ORDER BY number LIMIT ?', SWEPT)
  if (gone.length === 0) return true
  const numbers = JSON.stringify(gone.map(({ number }) => number))
  const isGiven = 'number = ANY (ARRAY(SELECT jsonb_array_elements(?::jsonb)::integer))'
  await tx.run(
    `DELETE FROM search_words w WHERE ${isGiven}
        AND NOT EXISTS (SELECT 1 FROM search_docs d WHERE d.words @> ARRAY[w.number])`,
    numbers,
  )
  await tx.run(`DELETE FROM search_gone WHERE ${isGiven}`, numbers)
  return false
}
