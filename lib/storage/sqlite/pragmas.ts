import { retry } from '../../core/scheduling/deadline.ts'
import type { Queries } from '../database.ts'
import { isBusy } from '../errors.ts'
import { sql } from '../sql.ts'
import type { SqliteHandle } from './connection.ts'
import { WAL_BYTES } from './file.ts'

/** `full` responds after the disk has synced; `os` leaves the sync to the operating system. */
export type Durability = 'full' | 'os'

/** How long a start waits for other processes that start, or write, at the same moment. */
const LOCK_TIMEOUT_MS = 10_000
const LOCK_RETRY_MS = 10

/**
 * Sets up a SQLite connection.
 *
 * @throws Error when it does not keep acknowledged writes
 */
export async function setUpSqlite(
  handle: SqliteHandle,
  durability: Durability,
  { read_only = false } = {},
): Promise<void> {
  if (read_only) return setUpReading(handle)
  // SQLite itself does not wait when two processes switch a file to WAL: one of them is refused at once.
  const apply = () => applySettings(handle, durability)
  await retry(apply, { ms: LOCK_TIMEOUT_MS, pause_ms: LOCK_RETRY_MS, mayPass: isBusy })
}

/** Changes not even the journal mode, which is stored in the file: a copy that is checked keeps its checksum. */
function setUpReading(handle: SqliteHandle): void {
  handle.exec('PRAGMA busy_timeout = 5000')
  handle.exec('PRAGMA query_only = ON')
  handle.exec('PRAGMA temp_store = MEMORY')
  // 64 MiB: a check looks up each of a million messages in its indexes, in no order.
  handle.exec('PRAGMA cache_size = -65536')
  handle.prepare('SELECT count(*) FROM sqlite_master').get()
}

function applySettings(handle: SqliteHandle, durability: Durability): void {
  const pragma = (name: string, value?: string) =>
    Object.values(handle.prepare(`PRAGMA ${name}${value ? ` = ${value}` : ''}`).get() as object)[0]
  // Short: SQLite waits inside the event loop. Longer waits for other processes are asynchronous (`gate.ts`).
  handle.exec('PRAGMA busy_timeout = 5')
  const journal = pragma('journal_mode', 'WAL')
  handle.exec(`PRAGMA synchronous = ${durability === 'full' ? 'FULL' : 'NORMAL'}`)
  handle.exec('PRAGMA foreign_keys = ON')
  handle.exec('PRAGMA temp_store = MEMORY')
  // 16 MiB of pages instead of 2: an index of a million messages fits.
  handle.exec('PRAGMA cache_size = -16384')
  // Deleted content is overwritten, also on pages that become free: docs/decisions/0013.
  pragma('secure_delete', 'ON')
  pragma('journal_size_limit', String(WAL_BYTES))
  // 16 MiB of WAL instead of 4: the pages that every post changes are copied to the file, and synced, a quarter as often.
  pragma('wal_autocheckpoint', '4000')
  // Creates the WAL and reads the schema: either may be unusable.
  handle.prepare('SELECT count(*) FROM sqlite_master').get()
  const kept = (journal === 'wal' || journal === 'memory') && pragma('foreign_keys') === 1
  if (!kept || pragma('synchronous') !== (durability === 'full' ? 2 : 1))
    throw new Error('SQLite did not take the settings that make it durable')
}

/** @throws Error when PostgreSQL may lose acknowledged writes, unless the configuration allows that */
export async function assertDurable(db: Queries, durability: Durability): Promise<void> {
  if (durability === 'os') return
  for (const setting of ['fsync', 'synchronous_commit']) {
    const row = await db.get<{ value: string }>(sql`SELECT current_setting(${setting}) AS value`)
    if (row?.value === 'off') {
      throw new Error(
        `PostgreSQL runs with ${setting} = off and may lose acknowledged messages: turn it on, or allow it with durability: "os" of openStorage, storage.durability = "os" of a configuration file`,
      )
    }
  }
}
