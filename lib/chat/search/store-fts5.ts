import { hasTable } from '../../storage/catalog.ts'
import type { Database, Queries, Row } from '../../storage/database.ts'
import { partitionOfTable } from '../../storage/search-tables.ts'
import { literal, name, sql } from '../../storage/sql.ts'
import { type Entry, partitionOf, toDoc, toRowId } from './rules.ts'

// The options: no texts, and entries can be removed. The words are letters and digits of any script, and #.
const OPTIONS = sql`words, content='', contentless_delete=1, tokenize="ascii tokenchars '#'"`

/**
 * The pages of FTS5's segments that are merged with each batch: enough that the segments do not pile up, as FTS5 merges 16
 * of a level at once, and little enough that a post does not wait for it.
 */
const MERGED_PAGES = 8
const MERGED_PAGES_EACH = 0.2

/** What was taken out of a partition stays in its segments, which have tombstones in rows from this number on, until they are merged. */
const FIRST_TOMBSTONE = 2 ** 53

/** The table of a partition. */
export const partitionTable = (partition: number) => `search_index_${partition}`

/** The column by which FTS5 takes commands has the name of the table. */
const commandColumn = ({ names }: Queries, partition: number) =>
  name(names?.inCatalog(partitionTable(partition)) ?? partitionTable(partition))

/** Whether this build of SQLite can make full-text indexes. */
export async function hasFts5(db: Queries): Promise<boolean> {
  return (await db.get(sql`SELECT 1 AS one FROM pragma_module_list WHERE name = 'fts5'`)) !== undefined
}

/** Whether SQLite was opened for reading only, such as by `chat-server fsck`. */
export async function isReadOnly(db: Queries): Promise<boolean> {
  return (await db.get<{ query_only: number }>(sql`PRAGMA query_only`))!.query_only === 1
}

/** The index of a version that had one table for all messages. */
const FORMER = 'search_index'

/** Removes the index of an older version. Another process may do the same. */
export async function dropFormer(db: Database): Promise<void> {
  if (await hasTable(db, FORMER)) await db.write((tx) => tx.run(sql`DROP TABLE IF EXISTS ${name(FORMER)}`))
}

/** The partitions that exist, the newest first. */
export async function listPartitions(db: Queries): Promise<number[]> {
  const prefix = db.names?.inCatalog('') ?? ''
  const rows = await db.all<{ name: string }>(
    sql`SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB ${`${prefix}search_index_[0-9]*`}
          AND sql LIKE 'CREATE VIRTUAL%'`,
  )
  const found = rows.map((row) => partitionOfTable(row.name.slice(prefix.length)))
  return found.filter((partition) => partition !== undefined).sort((a, b) => b - a)
}

/** @returns whether it is made, and newer than others that exist */
async function createPartition(tx: Queries, partition: number): Promise<boolean> {
  const table = partitionTable(partition)
  if (await hasTable(tx, table)) return false
  const [newest] = await listPartitions(tx)
  await tx.run(sql`CREATE VIRTUAL TABLE ${name(table)} USING fts5 (${OPTIONS})`)
  // FTS5 would merge a megabyte within one batch. FTS5 takes no number with a fraction, which a parameter has.
  const column = commandColumn(tx, partition)
  await tx.run(sql`INSERT INTO ${name(table)} (${column}, rank) VALUES ('automerge', 0)`)
  // Half as many segments of a level as FTS5 merges at once anyway: each word is written less often than with four.
  await tx.run(sql`INSERT INTO ${name(table)} (${column}, rank) VALUES ('usermerge', 8)`)
  return newest !== undefined && newest < partition
}

/** Messages of a partition that have what is searched for, the newest first: up to `limit` of those with a number below `before`. */
export async function findInPartition(
  db: Queries,
  partition: number,
  { match, before, limit }: { match: string; before: number; limit: number },
): Promise<number[]> {
  // FTS5 ignores a bound with a fraction, which a parameter has, and would begin with the newest each time.
  const rows = await db.all<Row>(
    sql`SELECT rowid AS place FROM ${name(partitionTable(partition))}(${match})
          WHERE rowid > CAST(${toRowId(partition, before)} AS INTEGER) ORDER BY rowid LIMIT ${limit}`,
  )
  return rows.map(({ place }) => toDoc(partition, Number(place)))
}

/**
 * Puts messages into the index, in place of what it has of them. In the order of their rows, which FTS5 needs for its speed.
 *
 * @returns whether they are the first ones of a newer partition
 */
export async function writeRows(tx: Queries, entries: readonly Entry[]): Promise<boolean> {
  const byPartition = new Map<number, Entry[]>()
  for (const entry of entries) {
    const partition = partitionOf(entry.doc)
    const others = byPartition.get(partition)
    if (others) others.push(entry)
    else byPartition.set(partition, [entry])
  }
  let isNewer = false
  for (const [partition, each] of byPartition) if (await writePartition(tx, partition, each)) isNewer = true
  return isNewer
}

async function writePartition(tx: Queries, partition: number, entries: readonly Entry[]): Promise<boolean> {
  const indexed = entries.filter(({ words }) => words.length > 0).sort((a, b) => b.doc - a.doc)
  const isNewer = await createPartition(tx, partition)
  const table = name(partitionTable(partition))
  const gone = JSON.stringify(entries.map(({ doc }) => toRowId(partition, doc)))
  await tx.run(sql`DELETE FROM ${table} WHERE rowid IN (SELECT value FROM json_each(${gone}))`)
  for (const { doc, words } of indexed)
    await tx.run(sql`INSERT INTO ${table} (rowid, words) VALUES (${toRowId(partition, doc)}, ${words.join(' ')})`)
  if (indexed.length > 0) await mergePages(tx, partition, MERGED_PAGES + Math.ceil(indexed.length * MERGED_PAGES_EACH))
  return isNewer
}

async function mergePages(tx: Queries, partition: number, pages: number): Promise<void> {
  const column = commandColumn(tx, partition)
  await tx.run(sql`INSERT INTO ${name(partitionTable(partition))} (${column}, rank) VALUES ('merge', ${pages})`)
}

/**
 * Merges some pages of a partition; at first it begins a merge of all its segments into one.
 *
 * @returns whether nothing is left to merge
 */
export async function mergePartition(
  tx: Queries,
  partition: number,
  pages: number,
  isFirst: boolean,
): Promise<boolean> {
  const before = await countWritten(tx)
  await mergePages(tx, partition, isFirst ? -pages : pages)
  // The statement itself is one change.
  return !isFirst && (await countWritten(tx)) - before < 2
}

async function countWritten(tx: Queries): Promise<number> {
  return (await tx.get<{ total: number }>(sql`SELECT total_changes() AS total`))!.total
}

/**
 * The partitions to be merged into one segment each: those that have what was taken out, and those that are not the newest
 * and have several, in each of which a search would look for each word.
 */
export async function listUnmerged(db: Queries): Promise<number[]> {
  const unmerged: number[] = []
  for (const [n, partition] of (await listPartitions(db)).entries()) {
    const table = name(partitionTable(partition))
    const row = await db.get<{ has_tombstones: number; segments: number }>(
      sql`SELECT EXISTS (SELECT 1 FROM ${table}_data WHERE id >= ${literal(FIRST_TOMBSTONE)}) AS has_tombstones,
              (SELECT max(segid) FROM ${table}_idx) <> (SELECT min(segid) FROM ${table}_idx) AS segments`,
    )
    if (row!.has_tombstones === 1 || (n > 0 && row!.segments === 1)) unmerged.push(partition)
  }
  return unmerged
}

/** Empties the index. */
export async function clearPartitions(tx: Queries): Promise<void> {
  for (const partition of await listPartitions(tx))
    await tx.run(
      sql`INSERT INTO ${name(partitionTable(partition))} (${commandColumn(tx, partition)}) VALUES ('delete-all')`,
    )
}

/** The number of messages in the index, its size in bytes, and the oldest of them. Reads all of it. */
export async function measurePartitions(
  db: Queries,
): Promise<{ documents: number; bytes: number; oldest: number | null }> {
  const sizes: { documents: number; bytes: number; last: number | null }[] = []
  const partitions = await listPartitions(db)
  for (const partition of partitions) {
    const table = name(partitionTable(partition))
    const row = await db.get<(typeof sizes)[number]>(
      sql`SELECT (SELECT count(*) FROM ${table}_docsize) AS documents, (SELECT max(id) FROM ${table}_docsize) AS last,
              (SELECT coalesce(sum(length(block)), 0) FROM ${table}_data) AS bytes`,
    )
    sizes.push(row!)
  }
  const last = sizes.findLastIndex(({ documents }) => documents > 0)
  return {
    documents: sizes.reduce((sum, { documents }) => sum + documents, 0),
    bytes: sizes.reduce((sum, { bytes }) => sum + bytes, 0),
    oldest: last < 0 ? null : toDoc(partitions[last]!, sizes[last]!.last!),
  }
}
