import type { OwnReload } from '../../lib/cluster/reload-requests.ts'
import type { Config } from '../../lib/config/parse.ts'
import type { Log } from '../../lib/context.ts'
import { type Listen, listen } from '../../lib/http/node/listen.ts'
import { type CloseOptions, serveThrough } from '../../lib/http/node/serve.ts'
import { type Chat, createChatService, openStorage } from '../../lib/index.ts'
import { type Reloading, reloadable } from '../config/watch.ts'
import { copyBeforeMigration } from '../copies.ts'
import type { Logger } from '../logging/logger.ts'
import { getWebChat } from '../web-page.ts'

/** A service that listens in this process. */
export interface ServiceNode {
  chat: Chat
  url: string
  /** The socket address. */
  address: string
  /** Reads the configuration again, or takes the one that is given. */
  reload(config?: Config): Promise<OwnReload>
  /** Finishes the requests and answers in progress, and closes everything. */
  stop(options?: CloseOptions): Promise<void>
}

/** What differs between the processes that serve. */
export interface NodeOptions {
  reloading: Omit<Reloading, 'log'>
  /** Default: `node:http`. */
  listen?: Listen
  /** The open socket to listen on, instead of the configured address. */
  fd?: number | undefined
  /** Called before it listens; an error prevents that. */
  onDatabase?: (chat: Chat) => Promise<void>
}

/** Opens the configured storage, copies it if it is to be migrated, and makes the service on it. Starts nothing. */
export async function openService(config: Config, log: Log): Promise<Chat> {
  const { url: database, ...postgres } = config.database
  const storage = await openStorage({ database, ...postgres, durability: config.storage.durability })
  try {
    if (config.storage.migrate) await copyBeforeMigration(storage, config, log.info)
  } catch (error) {
    await storage.close()
    throw error
  }
  return createChatService(config, storage, { log })
}

/** Opens the storage, starts the service, and listens. */
export async function startNode(config: Config, log: Logger, options: NodeOptions): Promise<ServiceNode> {
  const chat = await openService(config, log)
  // Before the start: from then on `chat-server reload` reaches it.
  const reload = reloadable(chat, { ...options.reloading, log })
  try {
    await chat.start()
    await options.onDatabase?.(chat)
    const web = await getWebChat(config)
    const { url, address, close } = await serveThrough(options.listen ?? listen, chat, { fd: options.fd, web })
    return { chat, url, address, reload, stop: (how) => close(how).finally(() => chat.close()) }
  } catch (error) {
    await chat.close()
    throw error
  }
}
