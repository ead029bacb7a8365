import { basePathOf } from '../lib/config/base-path.ts'
import type { Config } from '../lib/config/parse.ts'
import type { Log } from '../lib/context.ts'
import type { WebChat } from '../lib/web/index.ts'

/**
 * Finds out whether there is a web chat to serve, and logs it if there is none though there could be.
 *
 * @returns a function that sets `server.web` of a configuration to whether it is served
 */
export async function findPage(config: Config, log: Log): Promise<(config: Config) => Config> {
  const isWanted = isShown(config)
  // Loaded on demand: a service without the page reads nothing of it.
  const isBuilt = isWanted && (await import('../lib/web/index.ts').then(({ hasWebChat }) => hasWebChat()))
  if (isWanted && !isBuilt)
    log.info('There is no web chat: this clone was installed without the packages that build it (npm ci builds it).')
  return (each) => ({ ...each, server: { ...each.server, web: isBuilt && isShown(each) } })
}

/** The page of a configuration that {@link findPage} has set. */
export async function getWebChat(config: Config): Promise<WebChat | undefined> {
  if (config.server.web !== true) return undefined
  const { createWebChat } = await import('../lib/web/index.ts')
  return createWebChat({ base: basePathOf(config) })
}

function isShown({ server, features }: Config): boolean {
  return server.web !== false && features.auth_v1
}
