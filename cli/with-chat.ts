import type { Chat } from '../lib/service.ts'
import type { Storage } from '../lib/storage/open.ts'
import { type ConfigFlags, loadConfig } from './config/load.ts'
import { createLogger } from './logging/logger.ts'
import { printNote } from './output.ts'

/**
 * Runs `work` on the configured storage, as it is: nothing is migrated.
 *
 * @param options.create makes a database that is not there; without, a mistyped address is an error
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
 * Runs `work` on a service beside the one that may be serving: it starts no timer and recovers nothing. A schema of
 * before is refused: the service beside it may be of before as well, and would find another one under its feet.
 *
 * @param options.create makes a database that is not there, or is empty
 * @param options.changed takes tables that somebody has changed
 */
export async function withChat<T>(
  flags: ConfigFlags,
  work: (chat: Chat) => Promise<T>,
  options: { create?: boolean; changed?: boolean } = {},
): Promise<T> {
  const { config, storage, createChatService } = await open(flags, options.create ?? false)
  const asItIs = { ...config, storage: { ...config.storage, migrate: false } }
  const chat = createChatService(asItIs, storage, { log: createLogger(config.log) })
  try {
    if (options.create && config.storage.migrate) await migrateEmpty(storage)
    await chat.start({ background: false, changed: options.changed ?? false })
    return await work(chat)
  } finally {
    await chat.close()
  }
}

/** Makes the schema where there is none. One of before is left as it is. */
export async function migrateEmpty(storage: Storage): Promise<void> {
  const steps = await storage.migrations()
  if (steps.every((step) => !step.applied_at)) await storage.migrate()
}

async function open(flags: ConfigFlags, create: boolean) {
  const { config, warnings } = loadConfig(flags)
  warnings.forEach(printNote)
  // Loaded by those who need it only: the help of a command waits for no database driver.
  const { createChatService, openStorage } = await import('../lib/index.ts')
  const { database, storage: settings } = config
  const storage = await openStorage({ database: database.url, durability: settings.durability, create })
  return { config, storage, createChatService }
}
