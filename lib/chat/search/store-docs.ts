import type { Queries } from '../../storage/database.ts'
import { isOneOfNumbers } from '../../storage/sql.ts'
import { blockOf, blockWord, type Entry, numberOf } from './rules.ts'

/** The fewest characters of a beginning that is searched for. */
const MIN_PREFIX = 3

const NUMBERS = 'json_to_recordset(?) AS given(doc bigint, words integer[])'

/** Puts messages into the index. What a message had, and has no more, is noted: maybe no other message has it. */
export async function writeDocs(tx: Queries, entries: readonly Entry[]): Promise<void> {
  const made = entries.filter(({ words }) => words.length > 0).sort((a, b) => a.doc - b.doc)
  const numbers = made.map(({ doc, words }) => ({
    doc,
    words: [...new Set([...words, blockWord(blockOf(doc))].map(numberOf))],
  }))
  const rows = JSON.stringify(numbers)
  await tx.run(
    `WITH old AS (DELETE FROM search_docs WHERE doc ${isOneOfNumbers(tx.dialect)} RETURNING doc, words),
          given AS (SELECT doc, words FROM ${NUMBERS})
     INSERT INTO search_gone (number)
     SELECT DISTINCT number FROM old CROSS JOIN unnest(old.words) AS number LEFT JOIN given ON given.doc = old.doc
      WHERE given.doc IS NULL OR number <> ALL (given.words) ORDER BY number
     ON CONFLICT (number) DO NOTHING`,
    JSON.stringify(entries.map(({ doc }) => doc)),
    rows,
  )
  if (made.length === 0) return
  await tx.run(
    `INSERT INTO search_docs (doc, words) SELECT doc, words FROM ${NUMBERS}
     ON CONFLICT (doc) DO UPDATE SET words = excluded.words`,
    rows,
  )
  await addWords(
    tx,
    made.flatMap(({ words }) => words),
  )
}

/** Stores words that a query can ask for by their beginnings. In their order, so that two processes do not wait for each other. */
async function addWords(tx: Queries, words: Iterable<string>): Promise<void> {
  const asked = [...new Set(words)].filter((word) => word.length >= MIN_PREFIX && !word.startsWith('#')).sort()
  await tx.run(
    `INSERT INTO search_words (word, number) SELECT word, number FROM json_to_recordset(?) AS given(word text, number integer)
     ON CONFLICT (word) DO NOTHING`,
    JSON.stringify(asked.map((word) => ({ word, number: numberOf(word) }))),
  )
}

/** Empties the index. */
export async function clearDocs(tx: Queries): Promise<void> {
  await tx.run('TRUNCATE TABLE search_docs, search_words, search_gone')
}

/** The number of messages in the index, its size in bytes, and the oldest of them. Reads all of it. */
export async function measureDocs(db: Queries): Promise<{ documents: number; bytes: number; oldest: number | null }> {
  const size = (table: string) => `pg_total_relation_size(to_regclass('${table}'))`
  const row = await db.get<{ documents: number; bytes: number; oldest: number | null }>(
    `SELECT count(*) AS documents, ${size('search_docs')} + ${size('search_words')} AS bytes, min(doc) AS oldest
       FROM search_docs`,
  )
  return row!
}
