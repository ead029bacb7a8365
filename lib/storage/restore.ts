import { mkdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type NamesOf, refuseUnknown } from '../core/known-names.ts'
import { restoreTo } from './archive/backup.ts'
import type { CopyOptions, Settled } from './archive/copied.ts'
import type { Overwriting } from './archive/files.ts'
import { connectSqlite, toDatabase } from './connect.ts'
import { createNames } from './names/names.ts'
import type { SqliteHandle } from './sqlite/connection.ts'
import { sqlitePath } from './sqlite/file.ts'

/** How a backup is restored. */
export interface RestoreOptions extends Overwriting, CopyOptions {
  /** The prefix of the tables in the backup. */
  prefix?: string
  /** Ends it; nothing of it remains. */
  signal?: AbortSignal
}

const RESTORE_OPTIONS: NamesOf<RestoreOptions> = { force: 0, prefix: 0, signal: 0, enable_webhooks: 0 }

/**
 * Puts a backup in the place of a SQLite database that is not in use.
 *
 * @param database `sqlite:<path>`
 * @param backup the file, or its bytes
 * @returns what waited in it and was dropped, and how many webhooks were disabled
 * @throws Error when a database exists, unless `force`; when a service uses it; when the backup is unusable
 */
export async function restoreStorage(
  database: string,
  backup: string | AsyncIterable<Uint8Array>,
  options: RestoreOptions = {},
): Promise<Settled> {
  refuseUnknown('restoreStorage', options, RESTORE_OPTIONS)
  if (typeof database !== 'string' || !backup)
    throw new TypeError("restoreStorage: pass the database and the backup: 'sqlite:./data/chat.db', './backup.db'")
  const names = createNames(options)
  const path = sqlitePath(database)
  if (!path) throw new Error('Only a SQLite file is restored by chat-server: for PostgreSQL use pg_restore')
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const open = async (file: string) => {
    const db0 = await connectSqlite({ path: file })
    return { db: await toDatabase(db0, 'full', { names }), handle: (await db0.getInstance()) as SqliteHandle }
  }
  return restoreTo(path, typeof backup === 'string' ? resolve(backup) : backup, open, options)
}
