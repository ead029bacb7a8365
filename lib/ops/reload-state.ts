import { assertParsed } from '../config/complete.ts'
import { type Config, ConfigError } from '../config/parse.ts'
import { planReload, type Reloaded } from '../config/reload.ts'
import { unpricedQuotas } from '../config/usage.ts'
import type { Context } from '../context.ts'
import type { Database } from '../storage/database.ts'

/** Reloads the configuration of a service, one call after the other. */
export function createReload(
  ctx: Pick<Context, 'assistants' | 'settings' | 'mail' | 'db' | 'log' | 'cluster' | 'streams'>,
): (config: Config) => Promise<Reloaded> {
  let last: Promise<unknown> = Promise.resolve()

  async function reload(config: Config): Promise<Reloaded> {
    assertParsed(config, 'chat.reload')
    const { next, changed, needs_restart } = planReload(ctx.settings.current(), config)
    const unpriced = unpricedQuotas(next, ctx.assistants.models)
    if (unpriced.length > 0) throw new ConfigError(unpriced)
    await ctx.mail.assertUsable(next)
    if (changed.includes('database.url')) await renewCredentials(ctx.db, next.database.url)
    ctx.settings.replace(next)
    await ctx.cluster.details.changed()
    if (changed.some((key) => key.startsWith('access'))) await ctx.streams.hub.rights.recheckAll()
    ctx.log.info('Reloaded the configuration.', { changed, needs_restart })
    return { changed, needs_restart }
  }

  return (config) => {
    const done = last.then(() => reload(config))
    last = done.catch(() => {})
    return done
  }
}

/**
 * The database of a host may be another one than the configuration names: then it stays as it is.
 *
 * @throws ConfigError when PostgreSQL refuses them
 */
async function renewCredentials(db: Database, url: string): Promise<void> {
  if (!db.canConnectAs?.(url)) return
  await db.connectAs?.(url).catch((error: Error) => {
    throw new ConfigError([{ key: 'database.url', message: `cannot be used now: ${error.message}` }])
  })
}
