import type { Chat } from '../lib/chat.ts'
import type { Storage } from '../lib/storage/open.ts'
import { type ConfigFlags, loadConfig } from './config.ts'
import { createLogger } from './logger.ts'
import { printNote } from './output.ts'

/** Runs `work` on the configured storage, as it is: nothing is migrated. */
export async function withStorage<T>(flags: ConfigFlags, work: (storage: Storage) => Promise<T>): Promise<T> {
  const { storage } = await open(flags, true)
  try {
    return await work(storage)
  } finally {
    await storage.close()
  }
}

/**
 * Runs `work` on a service beside the one that may be serving: it starts no timer and recovers nothing.
 *
 * @param options.create makes a database that is not there; without, a mistyped address is an error
 */
export async function withChat<T>(
  flags: ConfigFlags,
  work: (chat: Chat) => Promise<T>,
  options: { create?: boolean } = {},
): Promise<T> {
  const { config, storage, createChatService } = await open(flags, options.create ?? false)
  const chat = createChatService(config, storage, { log: createLogger(config.log) })
  try {
    await chat.start({ background: false })
    return await work(chat)
  } finally {
    await chat.close()
  }
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
