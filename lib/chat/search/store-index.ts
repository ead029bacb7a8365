import { hasTable } from '../../storage/catalog.ts'
import type { Database, Queries, Row } from '../../storage/database.ts'
import { isOneOfNumbers } from '../../storage/sql.ts'
import type { IndexTerm } from './rules-query.ts'

/** A message in the index, and its words; without any it is taken out. */
export interface Entry {
  doc: number
  words: ReadonlySet<string>
}

/** What a search asks the index for: all of these words, and one of each of the groups. */
export interface Wanted {
  all: readonly IndexTerm[]
  /** Of each group one; none is empty. */
  groups: readonly (readonly string[])[]
}

/** Messages that may match, newest first: all from `low` on are among them. */
export interface Found {
  docs: number[]
  low: number
}

/** PostgreSQL has no order in an index of words: a word of its own for so many neighbours lets it read the newest first. */
const BLOCK = 16_384

/** How many blocks are read at once at first, and at most; the next time four times as many. */
const MOST_BLOCKS = 1024

// The options: no positions, no texts, and entries can be removed. The words are letters and digits of any script, and #.
const CREATE = `CREATE VIRTUAL TABLE IF NOT EXISTS search_index USING fts5 (
  words, content='', contentless_delete=1, detail=none, tokenize="ascii tokenchars '#'")`

/** Makes the index if it is not there. @returns whether the database can have it: SQLite needs FTS5 */
export async function openIndex(db: Database): Promise<boolean> {
  if (db.dialect === 'postgresql' || (await hasTable(db, 'search_index'))) return true
  if (!(await db.get("SELECT 1 AS one FROM pragma_module_list WHERE name = 'fts5'"))) return false
  await db.write((tx) => tx.run(CREATE))
  return true
}

/** The size of the index, in pages, that one transaction merges: a few milliseconds. */
const MERGED_PAGES = 64

/** Removes from the files, too, what was taken out of the index. PostgreSQL does so when it vacuums its table. */
export async function compactIndex(db: Database, isOver: () => boolean): Promise<void> {
  if (db.dialect === 'postgresql' || !(await hasTable(db, 'search_index'))) return
  const command = commandColumn(db)
  // A negative number begins a merge of everything into one part.
  for (let pages = -MERGED_PAGES, isDone = false; !isDone && !isOver(); pages = MERGED_PAGES)
    isDone = await db.write(async (tx) => {
      const before = await countWritten(tx)
      await tx.run(`INSERT INTO search_index (${command}, rank) VALUES ('merge', ?)`, pages)
      // The statement itself is one change.
      return pages > 0 && (await countWritten(tx)) - before < 2
    })
}

async function countWritten(tx: Queries): Promise<number> {
  return (await tx.get<{ total: number }>('SELECT total_changes() AS total'))!.total
}

/** Empties the index, and what is noted for it. */
export async function clearIndex(tx: Queries): Promise<void> {
  await tx.run('DELETE FROM search_changes')
  if (tx.dialect === 'postgresql') await tx.run('TRUNCATE TABLE search_docs')
  else if (await hasTable(tx, 'search_index'))
    await tx.run(`INSERT INTO search_index (${commandColumn(tx)}) VALUES ('delete-all')`)
}

/** The column by which FTS5 takes commands: it has the name of the table. */
const commandColumn = ({ names }: Queries) => names?.inCatalog('search_index') ?? 'search_index'

/** Puts messages into the index, in place of what it has of them. In the order of `doc`, which FTS5 needs for its speed. */
export async function writeEntries(tx: Queries, entries: readonly Entry[]): Promise<void> {
  const gone = JSON.stringify(entries.map(({ doc }) => doc))
  const made = entries.filter(({ words }) => words.size > 0).sort((a, b) => a.doc - b.doc)
  if (tx.dialect === 'sqlite') {
    await tx.run(`DELETE FROM search_index WHERE rowid ${isOneOfNumbers(tx.dialect)}`, gone)
    for (const { doc, words } of made)
      await tx.run('INSERT INTO search_index (rowid, words) VALUES (?, ?)', doc, [...words].join(' '))
    return
  }
  await tx.run(`DELETE FROM search_docs WHERE doc ${isOneOfNumbers(tx.dialect)}`, gone)
  const rows = made.map(({ doc, words }) => ({ doc, words: [...words, blockWord(Math.floor(doc / BLOCK))] }))
  await tx.run(
    `INSERT INTO search_docs (doc, words)
     SELECT doc, array_to_tsvector(words) FROM json_to_recordset(?) AS given(doc bigint, words text[])`,
    JSON.stringify(rows),
  )
}

const blockWord = (block: number) => `#b${block}`

/**
 * Up to `limit` messages of the index below `before`, newest first.
 *
 * @param width PostgreSQL: how many blocks to read
 */
export async function findEntries(
  db: Queries,
  wanted: Wanted,
  before: number,
  limit: number,
  width: number,
): Promise<Found> {
  const found =
    db.dialect === 'sqlite' ? findSqlite(db, wanted, before, limit) : findPostgres(db, wanted, before, limit, width)
  const { rows, floor } = await found
  const docs = rows.map(({ doc }) => Number(doc))
  return { docs, low: docs.length < limit ? floor : docs.at(-1)! }
}

async function findSqlite(db: Queries, { all, groups }: Wanted, before: number, limit: number) {
  const parts = [
    ...all.map(({ word, isPrefix }) => (isPrefix ? `"${word}" *` : `"${word}"`)),
    ...groups.map((group) => `(${group.map((word) => `"${word}"`).join(' OR ')})`),
  ]
  // FTS5 finds nothing without a word.
  if (parts.length === 0) {
    const rows = await db.all<Row>('SELECT doc FROM messages WHERE doc < ? ORDER BY doc DESC LIMIT ?', before, limit)
    return { rows, floor: 0 }
  }
  const rows = await db.all<Row>(
    'SELECT rowid AS doc FROM search_index(?) WHERE rowid < ? ORDER BY rowid DESC LIMIT ?',
    parts.join(' AND '),
    before,
    limit,
  )
  return { rows, floor: 0 }
}

async function findPostgres(db: Queries, { all, groups }: Wanted, before: number, limit: number, width: number) {
  const last = Math.floor((before - 1) / BLOCK)
  const first = Math.max(0, last - Math.min(width, MOST_BLOCKS) + 1)
  const blocks = Array.from({ length: last - first + 1 }, (_, n) => blockWord(first + n))
  const parts = [
    ...all.map(({ word, isPrefix }) => (isPrefix ? `'${word}':*` : `'${word}'`)),
    ...[...groups, blocks].map((group) => `(${group.map((word) => `'${word}'`).join(' | ')})`),
  ]
  const rows = await db.all<Row>(
    'SELECT doc FROM search_docs WHERE words @@ ?::tsquery AND doc < ? ORDER BY doc DESC LIMIT ?',
    parts.join(' & '),
    before,
    limit,
  )
  return { rows, floor: first * BLOCK }
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
      : ['FROM search_docs', "pg_total_relation_size(to_regclass('search_docs'))", '(SELECT min(doc) FROM search_docs)']
  const row = await db.get<{ documents: number; bytes: number; oldest_at: number | null }>(
    `SELECT (SELECT count(*) ${rows}) AS documents, ${bytes} AS bytes,
            (SELECT created_at FROM messages WHERE doc = ${oldest}) AS oldest_at`,
  )
  return row!
}
