import { hasTable } from '../../storage/catalog.ts'
import type { Database, Queries } from '../../storage/database.ts'
import { isOneOfNumbers } from '../../storage/sql.ts'
import { blockOf, blockWord, numberOf } from './rules.ts'

/** A message in the index, and its words in their order; without any it is taken out. */
export interface Entry {
  doc: number
  words: readonly string[]
}

/** The fewest characters of a beginning that is searched for. */
const MIN_PREFIX = 3

// The options: no texts, and entries can be removed. The words are letters and digits of any script, and #.
const CREATE = `CREATE VIRTUAL TABLE IF NOT EXISTS search_index USING fts5 (
  words, content='', contentless_delete=1, tokenize="ascii tokenchars '#'")`

/**
 * The pages of FTS5's parts that are merged with each batch: enough that the parts do not pile up, as FTS5 merges 16 of a
 * level at once, and little enough that a post does not wait for it.
 */
const MERGED_PAGES = 8
const MERGED_PAGES_EACH = 0.2

/** Whether the database can have an index: SQLite needs FTS5. */
export async function canIndex(db: Queries): Promise<boolean> {
  if (db.dialect === 'postgresql') return true
  return (await db.get("SELECT 1 AS one FROM pragma_module_list WHERE name = 'fts5'")) !== undefined
}

/** Whether SQLite was opened for reading only, such as by `chat-server fsck`. */
async function isReadOnly(db: Queries): Promise<boolean> {
  return (await db.get<{ query_only: number }>('PRAGMA query_only'))!.query_only === 1
}

/** Whether the index was made by an older version: without the order of words. What is in it is indexed anew anyway. */
async function isUnordered(db: Queries): Promise<boolean> {
  const sql = "SELECT 1 AS one FROM sqlite_master WHERE name = ? AND sql LIKE '%detail=none%'"
  return (await db.get(sql, commandColumn(db))) !== undefined
}

/** Makes the index if it is not there. @returns whether it is there: SQLite needs FTS5, and to be opened for writing */
export async function openIndex(db: Database): Promise<boolean> {
  if (db.dialect === 'postgresql') return true
  const has = await hasTable(db, 'search_index')
  if (await isReadOnly(db)) return has
  if (has && (await isUnordered(db))) {
    await db.write((tx) => tx.run('DROP TABLE search_index'))
    return openIndex(db)
  }
  if (!has && !(await canIndex(db))) return false
  if (!has) await db.write((tx) => tx.run(CREATE))
  // FTS5 would merge a megabyte within one batch. FTS5 takes no number with a fraction, which a parameter has.
  if (!(await db.get("SELECT 1 AS one FROM search_index_config WHERE k = 'automerge' AND v = 0")))
    await db.write((tx) => tx.run(`INSERT INTO search_index (${commandColumn(tx)}, rank) VALUES ('automerge', 0)`))
  return true
}

/** What was taken out of FTS5 stays in its parts, which have tombstones in rows from this number on, until they are merged. */
const FIRST_TOMBSTONE = 2 ** 53

/** Whether the index of SQLite still has what was taken out of it. PostgreSQL removes it when it vacuums its table. */
export async function hasTombstones(db: Queries): Promise<boolean> {
  if (db.dialect === 'postgresql' || !(await hasTable(db, 'search_index'))) return false
  return (await db.get('SELECT 1 AS one FROM search_index_data WHERE id >= ? LIMIT 1', FIRST_TOMBSTONE)) !== undefined
}

/** Merges so many pages; at first it begins a merge of everything into one part. @returns whether nothing is left to merge */
export async function mergeIndex(tx: Queries, pages: number, isFirst: boolean): Promise<boolean> {
  const before = await countWritten(tx)
  await mergePages(tx, isFirst ? -pages : pages)
  // The statement itself is one change.
  return !isFirst && (await countWritten(tx)) - before < 2
}

async function mergePages(tx: Queries, pages: number): Promise<void> {
  await tx.run(`INSERT INTO search_index (${commandColumn(tx)}, rank) VALUES ('merge', ?)`, pages)
}

async function countWritten(tx: Queries): Promise<number> {
  return (await tx.get<{ total: number }>('SELECT total_changes() AS total'))!.total
}

/** Empties the index, and what is noted for it. */
export async function clearIndex(tx: Queries): Promise<void> {
  await tx.run('DELETE FROM search_changes')
  if (tx.dialect === 'postgresql') await tx.run('TRUNCATE TABLE search_docs, search_words, search_gone')
  else if (await hasTable(tx, 'search_index'))
    await tx.run(`INSERT INTO search_index (${commandColumn(tx)}) VALUES ('delete-all')`)
}

/** The column by which FTS5 takes commands: it has the name of the table. */
const commandColumn = ({ names }: Queries) => names?.inCatalog('search_index') ?? 'search_index'

/** Puts messages into the index, in place of what it has of them. In the order of `doc`, which FTS5 needs for its speed. */
export async function writeEntries(tx: Queries, entries: readonly Entry[]): Promise<void> {
  const made = entries.filter(({ words }) => words.length > 0).sort((a, b) => a.doc - b.doc)
  if (tx.dialect === 'postgresql') await writeNumbers(tx, entries, made)
  else {
    const gone = JSON.stringify(entries.map(({ doc }) => doc))
    await tx.run(`DELETE FROM search_index WHERE rowid ${isOneOfNumbers(tx.dialect)}`, gone)
    for (const { doc, words } of made)
      await tx.run('INSERT INTO search_index (rowid, words) VALUES (?, ?)', doc, words.join(' '))
    if (made.length > 0) await mergePages(tx, MERGED_PAGES + Math.ceil(made.length * MERGED_PAGES_EACH))
  }
}

const NUMBERS = 'json_to_recordset(?) AS given(doc bigint, words integer[])'

/** What a message had, and has no more, is noted: maybe no other message has it. */
async function writeNumbers(tx: Queries, entries: readonly Entry[], made: readonly Entry[]): Promise<void> {
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

/** The numbers of the oldest and of the newest message that have one. */
export async function findEnds(db: Queries): Promise<{ oldest: number; newest: number }> {
  const end = (order: string) => `(SELECT doc FROM messages WHERE doc IS NOT NULL ORDER BY doc ${order} LIMIT 1)`
  const row = await db.get<{ oldest: number | null; newest: number | null }>(
    `SELECT ${end('ASC')} AS oldest, ${end('DESC')} AS newest`,
  )
  return { oldest: row?.oldest ?? 0, newest: row?.newest ?? 0 }
}

/** The number of messages in the index, its size in bytes, and when the oldest of them was posted. Reads all of it. */
export async function measureIndex(
  db: Queries,
): Promise<{ documents: number; bytes: number; oldest_at: number | null }> {
  const [rows, bytes, oldest] =
    db.dialect === 'sqlite'
      ? [
          'FROM search_index_docsize',
          '(SELECT coalesce(sum(length(block)), 0) FROM search_index_data)',
          '(SELECT min(id) FROM search_index_docsize)',
        ]
      : [
          'FROM search_docs',
          "pg_total_relation_size(to_regclass('search_docs')) + pg_total_relation_size(to_regclass('search_words'))",
          '(SELECT min(doc) FROM search_docs)',
        ]
  const row = await db.get<{ documents: number; bytes: number; oldest_at: number | null }>(
    `SELECT (SELECT count(*) ${rows}) AS documents, ${bytes} AS bytes,
            (SELECT created_at FROM messages WHERE doc = ${oldest}) AS oldest_at`,
  )
  return row!
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
