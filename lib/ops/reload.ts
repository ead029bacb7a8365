import { assertParsed } from '../config/complete.ts'
import type { Config } from '../config/parse.ts'
import { planReload, type Reloaded } from '../config/reload.ts'
import type { Context } from '../context.ts'

/** Reloads the configuration of a service, one call after the other. */
export function createReload(
  ctx: Pick<Context, 'settings' | 'assertUsable' | 'log'>,
): (config: Config) => Promise<Reloaded> {
  let last: Promise<unknown> = Promise.resolve()

  async function reload(config: Config): Promise<Reloaded> {
    assertParsed(config, 'chat.reload')
    const { next, changed, needs_restart } = planReload(ctx.settings.current(), config)
    await ctx.assertUsable(next)
    ctx.settings.replace(next)
    ctx.log.info('Reloaded the configuration.', { changed, needs_restart })
    return { changed, needs_restart }
  }

  return (config) => {
    const done = last.then(() => reload(config))
    last = done.catch(() => {})
    return done
  }
}
