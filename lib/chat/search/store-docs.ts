import type { Queries } from '../../storage/database.ts'
import { amongNumbers, type Sql, sql } from '../../storage/sql.ts'
import { blockOf, blockWord, type Entry, toWordNumber } from './rules.ts'

/** The fewest characters of a beginning that is searched for. */
const MIN_PREFIX = 3

/** Puts messages into the index. What a message had, and has no more, is noted: maybe no other message has it. */
export async function writeDocs(tx: Queries, entries: readonly Entry[]): Promise<void> {
  const indexed = entries.filter(({ words }) => words.length > 0).sort((a, b) => a.doc - b.doc)
  const numbers = indexed.map(({ doc, words }) => ({
    doc,
    words: [...new Set([...words, blockWord(blockOf(doc))].map(toWordNumber))],
  }))
  const given = sql`json_to_recordset(${JSON.stringify(numbers)}) AS given(doc bigint, words integer[])`
  const docs = amongNumbers(
    tx,
    entries.map(({ doc }) => doc),
  )
  await tx.run(
    sql`WITH old AS (DELETE FROM search_docs WHERE doc ${docs} RETURNING doc, words),
          given AS (SELECT doc, words FROM ${given})
     INSERT INTO search_gone (number)
     SELECT DISTINCT number FROM old CROSS JOIN unnest(old.words) AS number LEFT JOIN given ON given.doc = old.doc
      WHERE given.doc IS NULL OR number <> ALL (given.words) ORDER BY number
     ON CONFLICT (number) DO NOTHING`,
  )
  if (indexed.length === 0) return
  await tx.run(
    sql`INSERT INTO search_docs (doc, words) SELECT doc, words FROM ${given}
     ON CONFLICT (doc) DO UPDATE SET words = excluded.words`,
  )
  await addWords(
    tx,
    indexed.flatMap(({ words }) => words),
  )
}

/** Stores words that a query can ask for by their beginnings. In their order, so that two processes do not wait for each other. */
async function addWords(tx: Queries, words: Iterable<string>): Promise<void> {
  const prefixes = [...new Set(words)].filter((word) => word.length >= MIN_PREFIX && !word.startsWith('#')).sort()
  const rows = JSON.stringify(prefixes.map((word) => ({ word, number: toWordNumber(word) })))
  await tx.run(
    sql`INSERT INTO search_words (word, number) SELECT word, number
       FROM json_to_recordset(${rows}) AS given(word text, number integer)
     ON CONFLICT (word) DO NOTHING`,
  )
}

/** Empties the index. */
export async function clearDocs(tx: Queries): Promise<void> {
  await tx.run(sql`TRUNCATE TABLE search_docs, search_words, search_gone`)
}

/** The number of messages in the index, its size in bytes, and the oldest of them. Reads all of it. */
export async function measureDocs(db: Queries): Promise<{ documents: number; bytes: number; oldest: number | null }> {
  const size = (table: Sql) => sql`pg_total_relation_size(to_regclass('${table}'))`
  const row = await db.get<{ documents: number; bytes: number; oldest: number | null }>(
    sql`SELECT count(*) AS documents, ${size(sql`search_docs`)} + ${size(sql`search_words`)} AS bytes,
          min(doc) AS oldest
       FROM search_docs`,
  )
  return row!
}
