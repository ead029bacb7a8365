import type { Database, Queries } from '../../storage/database.ts'
import type { Entry } from './rules.ts'
import { clearChanges } from './store.ts'
import { clearDocs, measureDocs, writeDocs } from './store-docs.ts'
import { clearPartitions, dropFormer, hasFts5, isReadOnly, measurePartitions, writeRows } from './store-fts5.ts'

/** Whether the database can have an index: SQLite needs FTS5. */
export async function canIndex(db: Queries): Promise<boolean> {
  return db.dialect === 'postgresql' || hasFts5(db)
}

/** Removes the index of an older version, unless the database was opened for reading only. @returns whether it can have one */
export async function openIndex(db: Database): Promise<boolean> {
  if (!(await canIndex(db))) return false
  if (db.dialect === 'sqlite' && !(await isReadOnly(db))) await dropFormer(db)
  return true
}

/** Empties the index, and what is noted for it. */
export async function clearIndex(tx: Queries): Promise<void> {
  await clearChanges(tx)
  await (tx.dialect === 'postgresql' ? clearDocs(tx) : clearPartitions(tx))
}

/**
 * Puts messages into the index, in place of what it has of them.
 *
 * @returns whether older partitions of it have got their last messages, but for changes: they can be merged
 */
export async function writeEntries(tx: Queries, entries: readonly Entry[]): Promise<boolean> {
  if (tx.dialect === 'sqlite') return writeRows(tx, entries)
  await writeDocs(tx, entries)
  return false
}

/** The number of messages in the index, its size in bytes, and the oldest of them. Reads all of it. */
export function measureIndex(db: Queries): Promise<{ documents: number; bytes: number; oldest: number | null }> {
  return db.dialect === 'sqlite' ? measurePartitions(db) : measureDocs(db)
}
