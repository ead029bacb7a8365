import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Config } from '../lib/config/parse.ts'
import type { LogFields } from '../lib/context.ts'
import { causeText } from '../lib/core/errors.ts'
import { currentMillis } from '../lib/core/time.ts'
import type { Storage } from '../lib/index.ts'
import { copyWhole } from '../lib/storage/archive/backup.ts'
import { databaseFiles } from '../lib/storage/archive/files.ts'
import { readCommandClock } from '../lib/storage/clock-notes.ts'
import type { MigrationState } from '../lib/storage/schema/migrate.ts'
import { readDisk } from '../lib/storage/space.ts'
import { sqliteFile } from './doctor/files.ts'

/** Deleted data is to leave the machine: copies made before a migration stay as long as it takes to notice a failure. */
const KEEP_MS = 7 * 24 * 60 * 60 * 1000
const KEEP = 2

/**
 * Before a database with data is migrated, copies a SQLite file beside it. Copies that are too old are deleted.
 *
 * @param say logs a line
 * @returns the path of the copy, if one was made
 * @throws Error when there is no room for the copy: nothing was changed
 */
export async function copyBeforeMigration(
  storage: Storage,
  config: Pick<Config, 'database' | 'storage'>,
  say: (message: string, fields?: LogFields) => void,
): Promise<string | undefined> {
  const steps = await storage.migrations()
  const next = steps.find(isPending)
  const hasData = steps.some((step) => step.applied_at)
  if (!next || !hasData || !config.storage.backup_before_migrate || config.database.url === 'sqlite::memory:') return
  const path = sqliteFile(config.database.url)
  if (!path) {
    say('The schema is migrated without a copy: only SQLite is copied before. Make your own with pg_dump.')
    return
  }
  const stamp = new Date(currentMillis()).toISOString().replace(/[-:]|\.\d+/g, '')
  const copy = `${path}.before-${next.name}.${stamp}`
  const { now, doubt } = await readCommandClock(storage.db)
  const age = doubt === undefined ? now / 1000 : undefined
  deleteOldCopies(path, say, age)
  assertRoom(path)
  try {
    const bytes = await copyWhole(storage.db, copy)
    say('Copied the database before its migration', { copy, bytes })
  } catch (cause) {
    // Another process has started in the same second: its copy has the same name.
    if (existsSync(copy)) return copy
    if (!(await storage.migrations()).some(isPending)) return
    throw new Error(`The schema was not migrated, because the copy made before failed; ${REMEDY}`, { cause })
  }
  deleteOldCopies(path, say, age)
  return copy
}

const isPending = (step: MigrationState) => !step.applied_at

const REMEDY = 'free some space, or set storage.backup_before_migrate to false'

/** The file can only shrink in its copy. */
function assertRoom(path: string): void {
  const size = databaseFiles(path).reduce(
    (sum, part) => sum + (statSync(part, { throwIfNoEntry: false })?.size ?? 0),
    0,
  )
  const room = readDisk(path).free
  if (room > size) return
  const [needed, free] = [size, room].map((bytes) => `${Math.ceil(bytes / 2 ** 20)} MiB`)
  throw new Error(
    `The schema was not migrated: its copy beside ${path} needs ${needed}, and ${free} are free; ${REMEDY}`,
  )
}

/**
 * Deletes the copies of a SQLite file that are too old, and all but the last two. Never throws: other processes may delete
 * them too, and a service does without.
 *
 * @param say logs what could not be deleted
 * @param now in milliseconds; without it the clock is in doubt, and only the number of copies counts
 */
export function deleteOldCopies(
  path: string,
  say: (message: string, fields?: LogFields) => void,
  now: number | undefined,
): void {
  try {
    const copies = filesBeside(path).toSorted((a, b) => b.at - a.at)
    const old = copies.filter(({ at }, n) => n >= KEEP || (now !== undefined && now - at > KEEP_MS))
    for (const { file } of old) rmSync(file, { force: true })
  } catch (error) {
    say('Old copies of the database could not be deleted', { cause: causeText(error) })
  }
}

const COMPLETE = /\.\d{8}T\d{6}Z$/

/** The copies of a SQLite file, and when they were made. */
function filesBeside(path: string): { file: string; at: number }[] {
  const folder = dirname(path)
  return readdirSync(folder)
    .filter((name) => name.startsWith(`${basename(path)}.before-`) && COMPLETE.test(name))
    .flatMap((name) => {
      const file = join(folder, name)
      const stats = statSync(file, { throwIfNoEntry: false })
      return stats ? [{ file, at: stats.mtimeMs }] : []
    })
}
