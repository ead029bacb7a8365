import { existsSync } from 'node:fs'
import { userInfo } from 'node:os'
import { MIB } from '../lib/core/units.ts'
import type { Chat } from '../lib/service.ts'
import type { Storage } from '../lib/storage/open.ts'
import { readDisk } from '../lib/storage/space.ts'
import { createReserve } from '../lib/storage/sqlite/reserve.ts'
import { type ConfigFlags, loadConfig } from './config/load.ts'
import { sqliteFile } from './doctor/files.ts'
import { createLogger } from './logging/logger.ts'
import { printNote } from './output.ts'

/**
 * Runs `work` on the configured storage without migrating it.
 *
 * @param options.create creates a missing database; without it, a mistyped path is an error
 */
export async function withStorage<T>(
  flags: ConfigFlags,
  work: (storage: Storage) => Promise<T>,
  options: { create?: boolean } = {},
): Promise<T> {
  const { storage } = await open(flags, options.create ?? false)
  try {
    return await work(storage)
  } finally {
    await storage.close()
  }
}

/**
 * Runs `work` on a service without timers and recovery, because another process may be serving. An outdated schema is
 * refused: the serving process may be outdated as well, and a migration would change its schema while it runs.
 *
 * @param options.create creates the database if it is missing or empty
 * @param options.changed accepts modified tables
 * @param options.readOnly writes nothing, and leaves a SQLite file as it is
 */
export async function withChat<T>(
  flags: ConfigFlags,
  work: (chat: Chat) => Promise<T>,
  options: { create?: boolean; changed?: boolean; readOnly?: boolean } = {},
): Promise<T> {
  const { config, storage, createChatService } = await open(flags, options.create ?? false, options.readOnly)
  const withoutMigration = { ...config, storage: { ...config.storage, migrate: false } }
  const chat = createChatService(withoutMigration, storage, { log: createLogger(config.log), operator: operatorName() })
  try {
    if (options.create && config.storage.migrate) await migrateEmpty(storage)
    await chat.start({ background: false, changed: options.changed ?? false })
    return await work(chat)
  } finally {
    await chat.close()
  }
}

/** The user of this machine; with `sudo`, the user that called it. Users other than root can set that variable. */
export function operatorName(): string {
  if (process.env.SUDO_USER && process.getuid?.() === 0) return process.env.SUDO_USER
  try {
    return userInfo().username
  } catch {
    // A container may run under a number without a name.
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}

/** Creates the schema in an empty database. An outdated schema stays unchanged. */
export async function migrateEmpty(storage: Storage): Promise<void> {
  const steps = await storage.migrations()
  if (steps.every((step) => !step.applied_at)) await storage.migrate()
}

async function open(flags: ConfigFlags, create: boolean, read_only = false) {
  const { config, warnings } = loadConfig(flags)
  warnings.forEach(printNote)
  // Loaded on demand: the help of a command needs no database driver.
  const { createChatService, openStorage } = await import('../lib/index.ts')
  const { url: database, ...postgres } = config.database
  const openOne = () => openStorage({ database, ...postgres, durability: config.storage.durability, create, read_only })
  const storage = await openOne().catch((error: unknown) => {
    // Even to be opened, a SQLite file needs some room beside it.
    const path = sqliteFile(database)
    if (
      path === undefined ||
      !existsSync(path) ||
      readDisk(path).free > MIB ||
      createReserve(path).release('whole') === 0
    )
      throw error
    return openOne()
  })
  return { config, storage, createChatService }
}
