import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { assertBackUpable } from '../storage/archive/backup.ts'
import { openCopy } from '../storage/archive/copy.ts'
import { exportArchive } from '../storage/archive/export.ts'
import type { Database } from '../storage/database.ts'
import { getDatabaseFile } from '../storage/place.ts'
import { measureBytes } from '../storage/size.ts'
import { copySqlite } from './sqlite-copy.ts'

/** A whole database in one consistent state. */
export interface Source {
  /** The end of the name: a SQLite file, or an archive of JSON lines. */
  ends: '.db' | '.jsonl'
  bytes: AsyncIterable<Uint8Array>
  about_bytes: number
}

/** Lets `use` read a copy of a SQLite file, or an export of a PostgreSQL database. */
export async function withSource<T>(
  db: Database,
  signal: AbortSignal,
  use: (source: Source) => Promise<T>,
): Promise<T> {
  if (db.dialect === 'postgresql') {
    const bytes = exportStream(db)
    return use({ ends: '.jsonl', bytes, about_bytes: await measureBytes(db) }).finally(() => bytes.destroy())
  }
  await assertBackUpable(db)
  const file = await getDatabaseFile(db)
  const { bytes, size, close } = await openCopy(file, (copy) => copySqlite(db, copy, signal))
  return use({ ends: '.db', bytes, about_bytes: size }).finally(close)
}

/** Writes lines, and waits until the reader wants more. @throws Error when the stream is closed */
export async function writeTo(stream: PassThrough, lines: string): Promise<void> {
  if (stream.destroyed) throw new Error('The export was cancelled')
  if (stream.write(lines)) return
  const settled = new AbortController()
  const { signal } = settled
  // Each listener that loses is removed: an export waits thousands of times.
  await Promise.race([once(stream, 'drain', { signal }), once(stream, 'close', { signal })]).finally(() =>
    settled.abort(),
  )
}

/** An export, as fast as it is read. */
function exportStream(db: Database): PassThrough {
  // Its reader gets the error. Without a reader, before the first read and after the last, it would end the process.
  const stream = new PassThrough().on('error', () => {})
  exportArchive(db, (lines) => writeTo(stream, lines)).then(
    () => stream.end(),
    (error) => stream.destroy(error),
  )
  return stream
}
